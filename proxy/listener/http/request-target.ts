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

/** Dots, plain or percent-encoded, the encoding itself encoded or not. Most paths have no two in a row. */
const twoDots = /(?:\.|%(?:25)*2e){2}/i
/** `..`, also with what servers drop behind it: parameters (`..;a`), white space, whatever is encoded. */
const parent = /^\.\.(?:$|[;%#\s])/

/**
 * Whether the dot segments of a path may lead out of the root: then a node's server could answer from
 * beside the base path of its URL, with the router's keys. Servers differ in what they take for a
 * separator and for dots, so whatever one of them may understand counts, and only plain segments lead down.
 */
export function leadsAboveRoot(path: string): boolean {
  if (!twoDots.test(path)) return false
  const decoded = path.replace(/%(?:25)*2e/gi, '.').replace(/%(?:25)*(?:2f|5c)/gi, '\\')
  let depth = 0
  for (const segment of decoded.split('/')) {
    const parts = segment.split('\\')
    const ups = parts.filter((part) => parent.test(part)).length
    if (ups > 0) depth -= ups
    else if (parts.some((part) => part !== '' && part !== '.')) depth += 1
    if (depth < 0) return true
  }
  return false
}

export const aboveRootMessage =
  'the dot segments of the path lead above the root of the node, where its URL does not reach'

/** What Node's parser of HTTP says when it gives up. */
export interface ParseError extends NodeJS.ErrnoException {
  /** What it did not like, in words. */
  readonly reason?: string
  /** What came last of the connection, and how much of it was read. */
  readonly rawPacket?: Uint8Array
  readonly bytesParsed?: number
}

/** What is wrong with bytes that are no request, as far as the parser tells. */
export function unparsedMessage({ code, reason = '', rawPacket, bytesParsed }: ParseError): string {
  if (code !== 'HPE_INVALID_URL') return 'this is not a request in HTTP/1.1'
  const byte = rawPacket?.[bytesParsed ?? -1]
  // The parser names the part; of a host nothing is percent-encoded.
  if (byte === undefined || !/in url (?:path|query)$/.test(reason)) return targetMessage
  const hex = byte.toString(16).padStart(2, '0')
  return `the target of the request has bytes that must be percent-encoded, such as 0x${hex}, which is %${hex.toUpperCase()}`
}
