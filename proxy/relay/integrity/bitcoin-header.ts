// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { bufferOf } from '../../json/text.ts'
import type { ResultDocument } from './result-document.ts'
import { bareHash, shown } from './values.ts'
import { violation, type Violation } from './violation.ts'

const headerBytes = 80

/** The answer is one text, so that it can be a block or a header in hex. */
export function isText({ bytes, span }: ResultDocument): boolean {
  return bytes[span.start] === 0x22
}

/** A block of Bitcoin in hex begins with its header, and the header's hash is the block's. */
export function checkHeader({ bytes, span }: ResultDocument, wanted: string): Violation | null {
  const digits = bufferOf(bytes).toString(
    'latin1',
    span.start + 1,
    Math.min(span.end - 1, span.start + 1 + 2 * headerBytes),
  )
  const header = Buffer.from(digits, 'hex')
  if (header.length < headerBytes) return violation('shape', 'the answer is no block in hex')
  const hash = Buffer.from(sha256(sha256(header)).toReversed()).toString('hex')
  if (hash === bareHash(wanted)) return null
  return violation('block-hash', `asked for ${shown(wanted)}, got one of hash ${hash}`)
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
