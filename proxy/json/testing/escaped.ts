// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'

/** Any way in which JSON can spell a text of ASCII letters, with its quotes. */
export function spellingsOf(text: string): fc.Arbitrary<string> {
  const letters = [...text].map((letter) => {
    const code = (letter.codePointAt(0) as number).toString(16).padStart(4, '0')
    return fc.constantFrom(letter, `\\u${code}`, `\\u${code.toUpperCase()}`)
  })
  return fc.tuple(...letters).map((all) => `"${all.join('')}"`)
}

/** The same JSON with the names of members spelled otherwise, each occurrence of one alike. */
export function respelled(json: string, names: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(...names.map(spellingsOf))
    .map((spellings) =>
      names.reduce(
        (text, name, at) => text.replaceAll(`"${name}":`, () => `${spellings[at]}:`),
        json,
      ),
    )
}
