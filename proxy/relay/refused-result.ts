// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, FailureTable, NodeError } from '../chain/failure-table.ts'
import type { RefusalPath } from '../chain/types.ts'
import { parseSpan } from '../json/text.ts'
import type { Span } from '../json/span.ts'
import { ResultDocument } from './integrity/result-document.ts'
import { numberAt } from './integrity/values.ts'

/** More of a message no table looks at. */
const maxMessageLength = 4_096

/**
 * Some nodes tell in a result, not as an error, that they do not take a transaction. What they say of
 * it is their answer, whatever words of the client's stand in it: nobody is blamed for it or left alone.
 * @returns null for a transaction that was taken
 */
export function refusalIn(
  bytes: Uint8Array,
  value: Span,
  path: RefusalPath,
  failures: FailureTable,
): FailureClass | null {
  const error = errorIn(new ResultDocument(bytes, value), path)
  if (error === null) return null
  const told = failures.ofNodeError(error)
  // Another node may have room for it.
  const retry = told.whose === 'node' && told.retry
  const transaction = told.transaction ?? (retry ? null : 'refused')
  const unblamed = { weight: 0, holdOff: false, reported: false, late: false }
  return { ...told, ...unblamed, whose: 'node', retry, transaction }
}

function errorIn(document: ResultDocument, path: RefusalPath): NodeError | null {
  const { bytes } = document
  const at = document.at(path.code)
  const code = at && numberAt(bytes, at.start, at.end)
  // What is no code at all says nothing.
  if (code === null || code === 0 || Number.isNaN(code)) return null
  const words = document.at(path.message)
  const isText = words !== null && bytes[words.start] === 0x22
  const message = isText ? (parseSpan(bytes, words.start, words.end) as string) : ''
  return { status: 200, code, message: message.slice(0, maxMessageLength) }
}
