// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isMediaType, looksLikeKey, soundsLikeKey } from './key-looks.ts'

const shortestLength = 6
/** So long a part of a path is a key, whatever it is made of. */
const leastKeyLength = 16

/** Whether a text can be told from innocent ones: not with less than 6 characters, nor as a short number. */
export function isTellable(text: string): boolean {
  return text.length >= shortestLength && !/^\d{1,11}$/.test(text)
}

/**
 * What gives a secret value away: all of it, and the keys in it, where it is more than one, such as a whole URL or
 * `Bearer …`. Not the host of a URL.
 */
export function partsOf(value: string): readonly string[] {
  return [value, ...piecesOf(value).filter((piece) => isTellable(piece) && isKey(piece))]
}

function piecesOf(value: string): readonly string[] {
  return value.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split(/[\s/?&=#:@;,]+/)
}

/** Words such as `mainnet` stand in every other message; the names of schemes do so, too. */
function isKey(piece: string): boolean {
  if (/^(?:bearer|digest)$/i.test(piece)) return false
  return piece.length >= leastKeyLength || !/^[a-z]+(?:[-_.][a-z]+)*$/.test(piece)
}

/** What gives a URL away that stands in the file itself: all long parts of its path, and the values of its query. */
export function keysIn(url: URL): readonly string[] {
  const segments = url.pathname.split('/').filter((segment) => segment.length >= leastKeyLength)
  return [...segments, ...url.searchParams.values()]
}

/** The value of a header or a query parameter, as config has it. */
interface Given {
  readonly name: string
  readonly value: string
}

/** What looks like a key in what a placeholder stands for. */
export function likelyKeysOf(value: string): readonly string[] {
  return isMediaType(value) ? [] : [value, ...piecesOf(value)].filter(looksLikeKey)
}

/**
 * The keys in a header: all of one that is there to carry a key, without the scheme of `Bearer …` too. Nothing of any
 * other one, unless it came from a placeholder.
 */
export function keysInHeader({ name, value }: Given): readonly string[] {
  if (!soundsLikeKey(name) || isMediaType(value)) return []
  return [value, value.replace(/^[A-Za-z][\w-]*\s+/, ''), ...likelyKeysOf(value)]
}

/** The keys in a query parameter: its value, if its name or the value itself says so. */
export function keysInParameter({ name, value }: Given): readonly string[] {
  const isKey = soundsLikeKey(name) ? !isMediaType(value) : looksLikeKey(value)
  return [name, value].filter((text) => (text === value && isKey) || looksLikeKey(text))
}

/** The parts of a URL that answers must not repeat. */
export function likelyKeysIn(url: URL): readonly string[] {
  const parameters = [...url.searchParams].map(([name, value]) => ({ name, value }))
  return [...url.pathname.split('/').filter(looksLikeKey), ...parameters.flatMap(keysInParameter)]
}
