// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isUtf8 } from 'node:buffer'
import type { Span } from '../../json/span.ts'
import { spaceEnd, valueEnd } from '../../json/value.ts'
import type { Finding, ReplyReader } from '../../relay/reply.ts'
import { restError } from '../../upstream/dialects/rest-error.ts'
import { header, type BodyStream, type HeaderList, type Incoming } from '../../upstream/wire.ts'
import { RestReplyStream } from './rest-reply-stream.ts'
import { wordless, wordlessRefusal } from '../http/wordless-refusal.ts'

const isJsonType = /[/+]json\b/i

/**
 * Reads the answers to one REST request. The status says whether it is an error; JSON must be whole,
 * and of anything else the transport has seen that no byte is missing.
 */
export class RestReplyReader implements ReplyReader {
  readonly #isHead: boolean

  constructor(verb: string) {
    this.#isHead = verb === 'HEAD'
  }

  read({ status, headers, body }: Incoming): Finding {
    if (!(body instanceof Uint8Array)) {
      if (status < 400) return this.#headFinding(headers, body)
      const why = `HTTP ${status} with a long body`
      return wordlessRefusal(status) ?? { kind: 'malformed', why }
    }
    // The answer to a HEAD has no words whatever is wrong.
    if (status >= 400) return this.#isHead ? wordless(status) : errorFinding(status, body)
    if (this.#isHead || body.length === 0 || !isJson(headers)) return { kind: 'result' }
    if (!isUtf8(body)) return { kind: 'malformed', why: 'bytes that are not UTF-8' }
    const value = soleValue(body)
    if (value === null) return { kind: 'malformed', why: 'a body that is not whole JSON' }
    return { kind: 'result', value }
  }

  /** Of an answer too long to be collected; what its head cannot show is judged as it passes. */
  #headFinding(headers: HeaderList, body: BodyStream): Finding {
    if (!isJson(headers)) return { kind: 'result' }
    const rest = new RestReplyStream(body.length ?? null)
    const why = rest.readHead(body.head)
    if (why !== null) return { kind: 'malformed', why }
    const value = rest.valueSpan
    if (value === null) return { kind: 'malformed', why: 'no value in its first bytes' }
    return { kind: 'result', value, goesOn: !rest.hasWholeValue, rest }
  }

  write(result: unknown): Uint8Array {
    return Buffer.from(JSON.stringify(result))
  }
}

/**
 * A refusal without words (a page, or nothing at all) is the node's answer where it is about the
 * request, as with a path that it does not serve; else the trouble of whoever answered.
 */
function errorFinding(status: number, body: Uint8Array): Finding {
  const error = restError(status, body)
  if (error) return { kind: 'node-error', error }
  const why = `HTTP ${status} without a JSON answer`
  return wordlessRefusal(status) ?? { kind: 'malformed', why }
}

function isJson(headers: HeaderList): boolean {
  return isJsonType.test(header(headers, 'content-type') ?? '')
}

function soleValue(body: Uint8Array): Span | null {
  const start = spaceEnd(body, 0)
  const end = start < body.length ? valueEnd(body, start) : -1
  return end >= 0 && spaceEnd(body, end) === body.length ? { start, end } : null
}
