// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

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
  const pieces = value.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split(/[\s/?&=#:@;,]+/)
  return [value, ...pieces.filter((piece) => isTellable(piece) && isKey(piece))]
}

/** Words such as `mainnet` stand in every other message; the names of schemes do so, too. */
function isKey(piece: string): boolean {
  if (/^(?:bearer|digest)$/i.test(piece)) return false
  return piece.length >= leastKeyLength || !/^[a-z]+(?:[-_.][a-z]+)*$/.test(piece)
}

/** The same of a URL that stands in the file itself: long parts of its path, and the values of its query. */
export function keysIn(url: URL): readonly string[] {
  const segments = url.pathname.split('/').filter((segment) => segment.length >= leastKeyLength)
  return [...segments, ...url.searchParams.values()]
}
