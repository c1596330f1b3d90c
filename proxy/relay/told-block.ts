// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckPath } from '../chain/check-rule.ts'
import { maxParsedBytes, readBlockNumber } from '../upstream/block-number.ts'
import type { Dialect } from '../upstream/dialect.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { ItemCursor } from './integrity/item-cursor.ts'
import { ResultDocument } from './integrity/result-document.ts'
import { numberAt } from './integrity/values.ts'

/** The height that an answer about the newest state tells; null when it tells none, or streams. */
export function toldBlock(
  dialect: Dialect,
  incoming: Incoming,
  { asked, reader }: Call,
): number | null {
  const { body } = incoming
  const place = asked.tellsTip
  if (place === null || !(body instanceof Uint8Array)) return null
  const { path, header, items = null } = place
  if (items === null && (body.length <= maxParsedBytes || header !== undefined))
    return readBlockNumber(dialect, incoming, place)
  const finding = reader.read(incoming)
  if (finding.kind !== 'result' || !finding.value) return null
  const document = new ResultDocument(body, finding.value)
  const span = document.at(path)
  const number = span === null ? NaN : numberAt(body, span.start, span.end)
  const last = items === null ? number : number + lastIndex(document, items)
  return Number.isNaN(last) ? null : last
}

/** NaN for what is no list, or has no items. */
function lastIndex(document: ResultDocument, path: CheckPath): number {
  const { bytes } = document
  const list = document.at(path)
  if (list === null || bytes[list.start] !== 0x5b) return NaN
  const cursor = new ItemCursor(bytes, list.start)
  while (cursor.next()) cursor.skip()
  return cursor.index < 0 ? NaN : cursor.index
}
