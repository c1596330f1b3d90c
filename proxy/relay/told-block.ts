// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { maxParsedBytes, readBlockNumber } from '../upstream/block-number.ts'
import type { Dialect } from '../upstream/dialect.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { Call } from './call.ts'
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
  if (body.length <= maxParsedBytes || place.header !== undefined)
    return readBlockNumber(dialect, incoming, place)
  const finding = reader.read(incoming)
  if (finding.kind !== 'result' || !finding.value) return null
  const span = new ResultDocument(body, finding.value).at(place.path)
  const number = span === null ? NaN : numberAt(body, span.start, span.end)
  return Number.isNaN(number) ? null : number
}
