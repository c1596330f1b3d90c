// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../json/text.ts'
import type { JsonPlace } from './json-place.ts'
import type { SecretPattern } from './secret-pattern.ts'

const asterisk = 0x2a
/** What JSON has outside of its strings: structure, numbers and three words. */
const structure = /^[\s{}[\],:0-9eE.+\-truefalsn]*$/

/**
 * Puts asterisks over the secrets that begin before an offset. In JSON a mask stays within one string and cuts no
 * escape: what is JSON remains so.
 *
 * @param start where the bytes begin
 */
export function maskBytes(
  bytes: Uint8Array,
  { pattern }: SecretPattern,
  before: number,
  start: JsonPlace,
): void {
  const text = bufferOf(bytes).toString('latin1')
  const search = new RegExp(pattern)
  const place = start.copy()
  let at = 0
  for (let found = search.exec(text); found && found.index < before; found = search.exec(text)) {
    const [secret] = found
    place.pass(bytes, at, found.index)
    at = found.index
    const end = maskEnd(bytes, at, secret, place)
    if (end === null) search.lastIndex = at + 1
    else {
      place.pass(bytes, at, end)
      bytes.fill(asterisk, at, end)
      search.lastIndex = at = end
    }
  }
}

/** Where a mask from here may end; null where there may be none. */
function maskEnd(bytes: Uint8Array, from: number, secret: string, place: JsonPlace): number | null {
  const end = from + secret.length
  if (!place.isJsonWith(bytes[from] as number)) return end
  if (!place.inString) return secret.includes('"') || structure.test(secret) ? null : end
  // It is not the secret then, but a character such as a line break, and what follows it.
  if (place.inEscape) return null
  const ahead = place.copy()
  for (let at = from; at < bytes.length; at++) {
    if (at >= end && !ahead.inEscape) return at
    ahead.pass(bytes, at, at + 1)
    if (!ahead.inString) return null
  }
  return bytes.length
}
