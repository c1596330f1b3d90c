// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, parseSpan } from '../../json/text.ts'

/**
 * Whether an answer with this id is to the request that was sent under `sent`: nodes spell an id
 * anew, and leave it out of an error or make it null. Ids are JSON; `theirs` is null when absent.
 */
export function isIdOf(theirs: Uint8Array | null, sent: Buffer, isError: boolean): boolean {
  if (theirs && sent.equals(theirs)) return true
  const value = theirs ? parseSpan(bufferOf(theirs), 0, theirs.length) : null
  return value === parseSpan(sent, 0, sent.length) || (isError && value === null)
}
