// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'

export interface RequestTarget {
  /** Without the query, percent-encoding as sent. */
  readonly path: string
  /** What stands behind the `?`, as sent; empty when there is none. */
  readonly query: string
  /** Why no node can be asked for it; null when one can. */
  readonly fault: RelayError | null
}

const targetMessage =
  'the target of the request must be a path that begins with /, or an http:// URL, with whatever is not printable ASCII percent-encoded'
const fragmentMessage =
  'the target of the request has a # in it, which begins a fragment, and no request has one; a # that is meant is %23'
const dotsMessage =
  'the dot segments of the path may lead above the root of the node, where its URL does not reach'

/**
 * Reads a request target (RFC 9112, 3.2) in origin form, or in absolute form without the origin that
 * clients of a proxy put before it. No node can be asked for others: `*`, `host:port`, a URL of another scheme.
 */
export function readTarget(target: string): RequestTarget {
  const mark = target.indexOf('?')
  const bare = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 ? '' : target.slice(mark + 1)
  const origin = bare.startsWith('/') ? '' : /^https?:\/\/[^/]+/i.exec(bare)?.[0]
  if (origin === undefined)
    return { path: '', query: '', fault: new RelayError(errorKinds.unsendable, targetMessage) }
  const path = bare.slice(origin.length) || '/'
  return { path, query, fault: faultOfPath(path, target) }
}

/**
 * `..` as a segment. Servers differ in what they take for a separator and for dots, and in what they
 * drop behind them (`..;a`, white space), so whatever one of them may understand counts: plain,
 * percent-encoded, or with the encoding itself encoded.
 */
const dotSegment = /(?:[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){2}(?:$|[/\\;%#\s])/i

/**
 * What a path may not have. By dot segments a node's server might answer from beside the base path of
 * its URL, with the router's keys; clients resolve them before they ask. Behind a `#` (RFC 9112, 3.2)
 * a node would not read, such as the keys that the router puts there.
 */
export function faultOfPath(path: string, target = path): RelayError | null {
  if (target.includes('#')) return new RelayError(errorKinds.unsendable, fragmentMessage)
  return dotSegment.test(path) ? new RelayError(errorKinds.unsendable, dotsMessage) : null
}

/** What is wrong with bytes that are no request, as far as Node's parser of HTTP tells. */
export function unparsedMessage(code: string | undefined): string {
  return code === 'HPE_INVALID_URL' ? targetMessage : 'this is not a request in HTTP/1.1'
}
