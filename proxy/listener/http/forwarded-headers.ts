// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../../config/hop-by-hop.ts'
import { header, type HeaderList } from '../../upstream/wire.ts'

/** Of one connection, or of one way to put a body into bytes, or into a part: never passed on, whatever a spec says. */
const ownToEachHop: ReadonlySet<string> = new Set([
  ...hopByHop,
  'te',
  'trailer',
  'host',
  'expect',
  'content-encoding',
  'accept-encoding',
  'range',
])

/**
 * The headers of `from` that a spec lists, put behind those of `to`, which has the only ones of its
 * names. Names of `allowed` are lower case.
 */
export function forwardHeaders(
  from: HeaderList,
  allowed: ReadonlySet<string>,
  to: HeaderList,
): HeaderList {
  if (allowed.size === 0) return to
  let all: string[] | null = null
  const named = namedByConnection(from)
  for (let at = 0; at < from.length; at += 2) {
    const name = (from[at] as string).toLowerCase()
    const value = from[at + 1] as string
    if (!allowed.has(name) || ownToEachHop.has(name) || !isValue(value)) continue
    if (named?.includes(name) || header(to, name) !== null) continue
    all ??= [...to]
    all.push(name, value)
  }
  return all ?? to
}

/** Headers that are of this connection alone, in lower case (RFC 9110, 7.6.1). */
function namedByConnection(headers: HeaderList): readonly string[] | null {
  let named: string[] | null = null
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
    const names = (headers[at + 1] as string).toLowerCase().split(',')
    named = [...(named ?? []), ...names.map((each) => each.trim())]
  }
  return named
}

/** What may stand in a header's value (RFC 9110, 5.5). */
function isValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

/** The content type of an answer; JSON where the upstream named none that can be passed on. */
export function contentTypeOf(headers: HeaderList): string {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (name.length !== 12 || name.toLowerCase() !== 'content-type') continue
    const value = headers[at + 1] as string
    return isValue(value) ? value : 'application/json'
  }
  return 'application/json'
}
