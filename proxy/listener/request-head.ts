// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { clientLimits, objectCosts } from '../bytes/limits.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { HeaderList } from '../upstream/wire.ts'

/** What the router itself needs from a request's headers. */
export interface RequestHead {
  readonly contentEncoding: string | null
  readonly userAgent: string | null
  /** Declared length of the body; 0 if none. */
  readonly contentLength: number
  /** Memory of the head, as counted in the budget. */
  readonly heldBytes: number
  /** Origin of the page that sent the request or opens a WebSocket; null if not stated. */
  readonly origin: string | null
  /** Whether a browser sent it on behalf of a page, or of a site other than the router's own. */
  readonly isFromPage: boolean
  /** Set if the body is too large, or if another server could parse the request differently. */
  readonly fault: RelayError | null
}

/** Reads everything in one pass; `request.headers` would build an object of all headers. */
export function readHead({
  rawHeaders,
  httpVersionMinor,
}: {
  readonly rawHeaders: HeaderList
  readonly httpVersionMinor: number
}): RequestHead {
  let contentEncoding: string | null = null
  let userAgent: string | null = null
  let contentLength = 0
  let bytes = 0
  let origin: string | null = null
  let isCrossSite = false
  let isChunked = false
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    bytes += name.length + (rawHeaders[at + 1] as string).length
    // Few header names share these lengths.
    switch (name.length) {
      case 4:
        if (isNamed(name, 'host')) hosts += 1
        break
      case 6:
        if (isNamed(name, 'origin')) origin = joined(origin, rawHeaders[at + 1])
        break
      case 10:
        if (isNamed(name, 'user-agent')) userAgent ??= rawHeaders[at + 1] ?? null
        break
      case 14:
        if (isNamed(name, 'sec-fetch-site')) isCrossSite ||= rawHeaders[at + 1] === 'cross-site'
        else if (isNamed(name, 'content-length')) contentLength = Number(rawHeaders[at + 1])
        break
      case 16:
        if (isNamed(name, 'content-encoding'))
          contentEncoding = joined(contentEncoding, rawHeaders[at + 1])
        break
      case 17:
        isChunked ||= isNamed(name, 'transfer-encoding')
        break
    }
  }
  const isAmbiguous = hosts > 1 || (isChunked && httpVersionMinor === 0)
  const ambiguity = isAmbiguous ? new RelayError(errorKinds.badHttp, ambiguousMessage) : null
  const fault = ambiguity ?? faultOfCount(rawHeaders)
  const heldBytes = bytes + headCost(rawHeaders)
  const isFromPage = origin !== null || isCrossSite
  return { contentEncoding, userAgent, contentLength, heldBytes, origin, isFromPage, fault }
}

/** Rejects more headers than any client sends, because a header costs far more than its bytes. */
export function faultOfCount(headers: HeaderList): RelayError | null {
  if (headers.length <= 2 * clientLimits.headers) return null
  const message = `the request has more than ${clientLimits.headers} headers`
  return new RelayError(errorKinds.headersTooLarge, message)
}

/** Memory that a request takes in addition to the bytes of its head and body. */
export function headCost(headers: HeaderList): number {
  return objectCosts.requestBytes + (headers.length / 2) * objectCosts.headerBytes
}

/** Rejects other names of the same length cheaply. */
function isNamed(name: string, lower: string): boolean {
  return (
    (name.charCodeAt(0) | 0x20) === lower.charCodeAt(0) &&
    (name === lower || name.toLowerCase() === lower)
  )
}

const ambiguousMessage =
  'the request has more than one Host header, or a Transfer-Encoding in HTTP/1.0; servers differ in how they read these, so send one Host, and chunks in HTTP/1.1'

/** Joins a repeatable header into one list; null if absent. `name` is lower case. */
export function listOf(headers: HeaderList, name: string): string | null {
  let list: string | null = null
  for (let at = 0; at < headers.length; at += 2) {
    const each = headers[at] as string
    if (each.length !== name.length || each.toLowerCase() !== name) continue
    list = joined(list, headers[at + 1])
  }
  return list
}

function joined(list: string | null, value = ''): string {
  return list === null ? value : `${list}, ${value}`
}

/** Browsers state no origin for images and links. @param allowed origins; null: any */
export function isOriginAllowed(
  { origin, isFromPage }: Pick<RequestHead, 'origin' | 'isFromPage'>,
  allowed: ReadonlySet<string> | null,
): boolean {
  if (allowed === null) return true
  return origin === null ? !isFromPage : allowed.has(origin)
}

/** Matches JSON and its `+json` variants. */
export const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i
/** Any type except those that browsers send without preflight (Fetch, 2.2.2: safelisted). */
export const askedType =
  /^(?!(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\b)[\w.+-]+\/[\w.+-]+\s*(?:;|$)/i

/**
 * Why a page's request is refused: its origin, or a POST whose content type needs no CORS
 * preflight. With such a type, any page could make its visitors send requests unnoticed.
 *
 * @param types content types that pages may send
 */
export function refusalOfPage(
  exchange: { readonly verb: string; readonly head: RequestHead; readonly headers: HeaderList },
  allowed: ReadonlySet<string> | null,
  types: RegExp,
): RelayError | null {
  const { verb, head, headers } = exchange
  if (!isOriginAllowed(head, allowed))
    return new RelayError(errorKinds.originNotAllowed, originMessage)
  if (verb !== 'POST') return null
  if (types.test(listOf(headers, 'content-type') ?? '')) return null
  return new RelayError(errorKinds.contentType, typeMessage)
}

const originMessage =
  'this router serves pages of other origins only: its setting allowed-origins does not list the one of this page'
const typeMessage =
  'what a page sends needs the header Content-Type: application/json (over REST, any type that browsers ask the server about first), and this request has another one or none'
