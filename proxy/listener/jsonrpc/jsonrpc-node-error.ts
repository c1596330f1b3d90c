// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeError } from '../../chain/failure-table.ts'
import { membersOf, type Span } from '../../json/cursor.ts'
import { bufferOf, parseSpan } from '../../json/text.ts'
import { errorWords } from '../../upstream/dialects/json.ts'

/** A longer message of a node is cut before tables look at it. */
const maxMessageLength = 4_096

/**
 * As much of an error as tables look at; nodes put all kinds of things there. The span may end
 * within the error: what stands before its end is read.
 * @returns null for what says nothing: an error has a number for its code, or a text
 */
export function readError(
  body: Uint8Array,
  { start, end }: Span,
  status: number,
): NodeError | null {
  let code = NaN
  let message = ''
  let data = ''
  let isText = body[start] === 0x22
  if (body[start] === 0x7b) {
    const { at } = membersOf(body, start, ['code', 'message', 'data'])
    if (at.code) code = codeOf(body, at.code)
    if (at.message) message = textOf(body, at.message)
    if (at.data && body[at.data.start] === 0x22) data = textOf(body, at.data)
    isText = at.message !== undefined && body[at.message.start] === 0x22
  } else message = textOf(body, { start, end })
  if (Number.isNaN(code) && !(isText && message !== '')) return null
  return {
    status,
    code: Number.isSafeInteger(code) ? code : null,
    message: errorWords(code, message, data),
  }
}

/** NaN where it is no number. */
function codeOf(body: Uint8Array, { start, end }: Span): number {
  const first = body[start] as number
  const isNumber = first === 0x2d || (first >= 0x30 && first <= 0x39)
  return isNumber ? Number(bufferOf(body).toString('latin1', start, end)) : NaN
}

/** A string's text; of anything else its JSON. No more than what tables look at. */
function textOf(body: Uint8Array, { start, end }: Span): string {
  const isShort = end - start <= maxMessageLength
  if (body[start] === 0x22 && isShort) return parseSpan(body, start, end) as string
  return bufferOf(body).toString('utf8', start, Math.min(end, start + maxMessageLength))
}
