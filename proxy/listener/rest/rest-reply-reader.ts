// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseJson } from '../../json/text.ts'
import type { Finding, ReplyReader } from '../../relay/reply.ts'
import { restError } from '../../upstream/dialects/json.ts'
import {
  header,
  isPartial,
  type BodyStream,
  type HeaderList,
  type Incoming,
} from '../../upstream/wire.ts'
import { wordless, wordlessRefusal } from '../http/wordless-refusal.ts'
import { JsonStream } from '../json-stream.ts'

const unwantedPart = 'HTTP 206 with a part where the whole was asked for'
const isJsonType = /[/+]json\b/i

/**
 * What an answer that claims success may be: one JSON document, or of one of these media types, which
 * the client takes as well; or anything, where nobody knows what a node says there.
 */
export type Expected = { readonly orTypes: readonly string[] } | 'anything'

/**
 * Reads the answers to one REST request. The status says whether it is an error. JSON must be whole;
 * of anything else the transport has seen that no byte is missing.
 */
export class RestReplyReader implements ReplyReader {
  readonly #isHead: boolean
  readonly #expected: Expected

  constructor(verb: string, expected: Expected = 'anything') {
    this.#isHead = verb === 'HEAD'
    this.#expected = expected
  }

  read(incoming: Incoming, wantsResult = false): Finding {
    const { status, headers, body } = incoming
    // The answer to a HEAD has no words whatever is wrong.
    if (status >= 400) return this.#isHead ? wordless(status) : errorFinding(incoming)
    if (isPartial(incoming)) return { kind: 'malformed', why: unwantedPart }
    if (this.#isHead) return { kind: 'result' }
    const isExpected = this.#mustBeJson(headers)
    const other = isExpected ? noDocument(status) : null
    if (other) return other
    if (!(body instanceof Uint8Array))
      return isExpected || isJson(headers) ? headFinding(body) : { kind: 'result' }
    if (!isExpected && (body.length === 0 || !isJson(headers))) return { kind: 'result' }
    return jsonFinding(body, wantsResult)
  }

  /** Whatever it calls itself: one that is called something else would not be looked at. */
  #mustBeJson(headers: HeaderList): boolean {
    if (this.#expected === 'anything') return false
    return !this.#expected.orTypes.includes(mediaType(header(headers, 'content-type') ?? ''))
  }

  write(result: unknown): Uint8Array {
    return Buffer.from(JSON.stringify(result))
  }
}

/** To parse it is the fastest way to see that it is whole. */
function jsonFinding(body: Uint8Array, wantsResult: boolean): Finding {
  const parsed = parseJson(body)
  if (parsed === undefined) return { kind: 'malformed', why: 'a body that is not whole JSON' }
  return { kind: 'result', inForm: true, ...(wantsResult && { parsed }) }
}

/** Of an answer too long to be collected; what its head cannot show is judged as it passes. */
function headFinding(body: BodyStream): Finding {
  const rest = new JsonStream(body)
  const why = rest.problem
  return why === null ? { kind: 'result', inForm: true, rest } : { kind: 'malformed', why }
}

/** A status that says that no whole document follows; null for one that does not. */
function noDocument(status: number): Finding | null {
  const why = `HTTP ${status} instead of a document`
  // Servers send the client elsewhere when they find its path untidy, which is the client's doing.
  if (status >= 300) return { kind: 'malformed', why, isClientsDoing: true }
  return status === 204 || status === 205 ? { kind: 'malformed', why } : null
}

/**
 * A refusal without words (a page, or nothing at all) is the node's answer where it is about the
 * request, as with a path that it does not serve; else the trouble of whoever answered.
 */
function errorFinding({ status, body }: Incoming): Finding {
  const error = body instanceof Uint8Array ? restError(status, body) : null
  if (error) return { kind: 'node-error', error }
  const why = `HTTP ${status} without a JSON answer`
  return wordlessRefusal(status) ?? { kind: 'malformed', why }
}

function isJson(headers: HeaderList): boolean {
  return isJsonType.test(header(headers, 'content-type') ?? '')
}

/** The type of a `Content-Type`, or of one entry of an `Accept`, in lower case. */
function mediaType(text: string): string {
  return (text.split(';', 1)[0] as string).trim().toLowerCase()
}

/**
 * The types that a request names in its `Accept` beside JSON: the binary forms in which some nodes
 * answer. Text is none of them, for clients name it that only take what comes.
 */
export function otherTypes(headers: HeaderList): readonly string[] {
  const accepted: string[] = []
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]?.toLowerCase() === 'accept') accepted.push(headers[at + 1] as string)
  return accepted.flatMap((each) => each.split(',').map(mediaType)).filter(isOther)
}

function isOther(type: string): boolean {
  return /^[^*/]+\/[^*]+$/.test(type) && !type.startsWith('text/') && type !== 'application/json'
}
