// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'

/** Texts that readers of YAML take for something else, or that its marks are made of. */
const odd = [
  ...['y', 'n', 'Y', 'N', 'yes', 'No', 'ON', 'on', 'off', 'Off', 'true', 'FALSE', 'null', '~', ''],
  ...['=', '<<', '.inf', '-.Inf', '.nan', '010', '08', '-010', '0o10', '0x1F', '0b1', '1_000'],
  ...['_', '.', '+', '-', ':', '0', '7', 'e', 'x', '1:30', '-1:30.5', '2026-01-31', '1e3', '.5_0'],
  ...['2026-01-31T03:00:00Z', '2001-12-14 21:59:43.10 -5', '123456789012345678901234567890'],
  ...[
    ' ',
    '\t',
    '\n',
    '\n\n',
    '\r',
    '\n  ',
    '\n\t',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\u007f',
  ],
  ...['--', '---', '...', '? ', '- ', 'a: b', ' #', '#a', '&a', '*a', '!a', '%a', '@a', '`a'],
  ...['|', '>', "'", '"', '\\', '{', '}', '[', ']', ',', ': ', '::', '\u{1f600}'],
  ...['k: |\n  x', '# c\nb', '\n---\nb', '\n%b', 'long '.repeat(250)],
]

/** Texts of every kind, and many of those that are hard to write as YAML. */
export const texts: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(...odd),
    fc
      .array(fc.oneof(fc.constantFrom(...odd), fc.string({ unit: 'binary', maxLength: 3 })), {
        maxLength: 5,
      })
      .map((pieces) => pieces.join('')),
    fc.stringMatching(/^[-+.\d_:exob ]{0,8}$/),
  )
  .map((text) => text.toWellFormed())
