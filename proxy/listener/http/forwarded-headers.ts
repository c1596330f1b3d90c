// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../../config/fields/upstream-auth.ts'
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
  let named: ReadonlySet<string> | null = null
  for (let at = 0; at < from.length; at += 2) {
    const name = (from[at] as string).toLowerCase()
    const value = from[at + 1] as string
    if (!allowed.has(name) || ownToEachHop.has(name) || !isValue(value)) continue
    named ??= namedByConnection(from)
    if (named.has(name) || header(to, name) !== null) continue
    all ??= [...to]
    all.push(name, value)
  }
  return all ?? to
}

/** Names of headers that are of this connection alone, in lower case (RFC 9110, 7.6.1). */
function namedByConnection(headers: HeaderList): ReadonlySet<string> {
  const values = headers.filter(
    (_, at) => headers[at - 1]?.toLowerCase() === 'connection' && at % 2 === 1,
  )
  return new Set(
    values
      .join()
      .toLowerCase()
      .split(/[\s,]+/),
  )
}

/** What may stand in a header's value (RFC 9110, 5.5). */
function isValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

/** The content type of an answer; JSON where the upstream named none that can be passed on. */
export function contentTypeOf(headers: HeaderList): string {
  const type = header(headers, 'content-type')
  return type !== null && isValue(type) ? type : 'application/json'
}
