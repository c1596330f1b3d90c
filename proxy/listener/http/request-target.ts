// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export interface RequestTarget {
  /** Without the query, percent-encoding as sent. */
  readonly path: string
  /** What stands behind the `?`, as sent; empty when there is none. */
  readonly query: string
}

/** For a target in a form that no node can be asked for. */
export const targetMessage =
  'the target of the request must be a path that begins with /, or an http:// URL'

/**
 * For a target that has a fragment, though none may (RFC 9112, 3.2). A node would not read what stands
 * behind the `#`, such as the keys that the router puts there.
 */
export const fragmentMessage =
  'the target of the request has a # in it, which begins a fragment, and no request has one; a # that is meant is %23'

/**
 * Path and query of a request target (RFC 9112, 3.2) in origin form, or in absolute form without the
 * origin that clients of a proxy put before them. Null for any other: `*`, `host:port`, a URL of
 * another scheme. No node can be asked for those.
 */
export function readTarget(target: string): RequestTarget | null {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 ? '' : target.slice(mark + 1)
  if (path.startsWith('/')) return { path, query }
  const origin = /^https?:\/\/[^/]+/i.exec(path)
  return origin && { path: path.slice(origin[0].length) || '/', query }
}
