// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseJson } from '../../json/scanner.ts'
import type { ReplyContent, ReplyReader } from '../../relay/reply.ts'
import { restError } from '../../upstream/dialect.ts'
import {
  header,
  isPartial,
  type BodyStream,
  type HeaderList,
  type Incoming,
} from '../../upstream/wire.ts'
import { JsonStream } from '../json-stream.ts'

const unwantedPart = 'HTTP 206 with a part of the requested document'
const isJsonType = /[/+]json\b/i

/**
 * Reads the answers to one REST request. The status distinguishes errors from results. JSON must be
 * complete; for other bodies, the transport detects missing bytes.
 */
export class RestReplyReader implements ReplyReader {
  readonly #isHead: boolean
  readonly #answersJson: boolean
  readonly #accept: string

  /**
   * @param answersJson a success is one JSON document, or a binary format that the client requests
   * @param accept the request's `Accept` header
   */
  constructor(verb: string, answersJson = false, accept = '') {
    this.#isHead = verb === 'HEAD'
    this.#answersJson = answersJson
    this.#accept = accept.toLowerCase()
  }

  read(incoming: Incoming, wantsResult = false): ReplyContent {
    const { status, headers, body } = incoming
    // The answer to HEAD never has a message.
    if (status >= 400) return this.#isHead ? errorOfStatus(status) : errorContent(incoming)
    if (isPartial(incoming)) return { kind: 'malformed', why: unwantedPart }
    if (this.#isHead) return { kind: 'result' }
    const isExpected = this.#mustBeJson(headers)
    const other = isExpected ? noDocument(status) : null
    if (other) return other
    if (!(body instanceof Uint8Array))
      return isExpected || isJson(headers) ? headContent(body) : { kind: 'result' }
    if (!isExpected && (body.length === 0 || !isJson(headers))) return { kind: 'result' }
    return jsonContent(body, wantsResult)
  }

  /**
   * Ignores the content type for JSON methods, so that no type evades the check. Text does not
   * count as a binary format, because clients that accept anything also list it.
   */
  #mustBeJson(headers: HeaderList): boolean {
    if (!this.#answersJson) return false
    const [type = ''] = (header(headers, 'content-type') ?? '').toLowerCase().split(/\s*;/, 1)
    return /^$|^text\/|^application\/json$/.test(type) || !this.#accept.includes(type)
  }

  write(result: unknown): Uint8Array {
    return Buffer.from(JSON.stringify(result))
  }
}

/** Parsing is the fastest way to check for completeness. */
function jsonContent(body: Uint8Array, wantsResult: boolean): ReplyContent {
  const parsed = parseJson(body)
  if (parsed === undefined) return { kind: 'malformed', why: 'a body that is not whole JSON' }
  return { kind: 'result', inForm: true, ...(wantsResult && { parsed }) }
}

/** Validates the head of an answer that is too long to collect; `rest` validates the remainder. */
function headContent(body: BodyStream): ReplyContent {
  const rest = new JsonStream(body)
  const why = rest.problem
  return why === null ? { kind: 'result', inForm: true, rest } : { kind: 'malformed', why }
}

/** Content for a status without a complete document; null for any other status. */
function noDocument(status: number): ReplyContent | null {
  const why = 'no document'
  // Servers redirect malformed client paths, so a redirect is not a node failure.
  if (status >= 300) return { kind: 'malformed', why, isClientsFault: true }
  return status === 204 || status === 205 ? { kind: 'malformed', why } : null
}

/** The error in the node's body, or the error that the status implies. */
function errorContent({ status, body }: Incoming): ReplyContent {
  const error = body instanceof Uint8Array ? restError(status, body) : null
  if (error) return { kind: 'node-error', error }
  return refusalByStatus(status) ?? { kind: 'malformed', why: 'not JSON' }
}

/**
 * Interprets an error status without a node message (a page, or an empty body) if path and verb
 * come from the client. A status about the request (unknown path or verb) is the node's answer.
 * Null for a server failure.
 */
export function refusalByStatus(status: number): ReplyContent | null {
  const isAboutRequest = (status >= 400 && status < 500) || status === 501
  return isAboutRequest ? errorOfStatus(status) : null
}

/** An error of which only the status is known. */
function errorOfStatus(status: number): ReplyContent {
  return { kind: 'node-error', error: { status, code: null, message: '' } }
}

function isJson(headers: HeaderList): boolean {
  return isJsonType.test(header(headers, 'content-type') ?? '')
}
