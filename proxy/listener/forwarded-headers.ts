// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../config/fields/upstream-auth.ts'
import { header, type HeaderList } from '../upstream/wire.ts'

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
  for (let at = 0; at < from.length; at += 2) {
    const name = (from[at] as string).toLowerCase()
    if (!allowed.has(name) || ownToEachHop.has(name) || header(to, name) !== null) continue
    all ??= [...to]
    all.push(name, from[at + 1] as string)
  }
  return all ?? to
}
