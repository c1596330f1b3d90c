// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../clock/cancellation.ts'
import type { Clock } from '../../clock/clock.ts'
import type { TransportFault } from '../../chain/failure-table.ts'
import { aborted, TransportError } from '../wire.ts'
import type { BodyStream, HeaderList, Incoming, Outgoing, Transport } from '../wire.ts'

/** Reaction of a scripted upstream to one request. */
export interface ScriptedAnswer {
  /** Delay in milliseconds, by default 10. */
  readonly afterMs?: number
  readonly status?: number
  readonly headers?: HeaderList
  readonly body?: string
  /** Fault instead of an answer, or after the start of a stream. */
  readonly fault?: TransportFault
  /** Streams the body, then stays open until released, or fails. */
  readonly streams?: boolean
  /** Further chunks of a stream, which then ends. */
  readonly rest?: readonly string[]
  /** Never answers. */
  readonly hang?: boolean
  /** Progress that it reports meanwhile. */
  readonly progress?: string
}

export type Script = (request: Outgoing) => ScriptedAnswer

/** A transport that plays a script in virtual time. */
export class ScriptedTransport implements Transport {
  readonly #clock: Clock
  #script: Script
  /** Sent requests as text, oldest first; empty for a streamed body. */
  readonly requests: string[] = []
  /** Number of running requests. */
  open = 0
  /** Number of aborted requests. */
  aborted = 0
  /** Number of released streams. */
  released = 0

  constructor(clock: Clock, script: Script) {
    this.#clock = clock
    this.#script = script
  }

  /** Replaces the script. */
  play(script: Script): void {
    this.#script = script
  }

  send(request: Outgoing, signal: CancelSignal): Promise<Incoming> {
    const answer = this.#script(request)
    const { body } = request
    this.requests.push(body instanceof Uint8Array ? Buffer.from(body).toString() : '')
    this.open += 1
    if (answer.progress !== undefined) signal.underWay = { progress: answer.progress }
    return new Promise<Incoming>((resolve, reject) => {
      const onAbort = () => {
        cancel()
        this.aborted += 1
        reject(aborted())
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const act = () => {
        signal.removeEventListener('abort', onAbort)
        if (answer.fault && !answer.streams) reject(scripted(answer.fault))
        else resolve(this.#incomingOf(answer))
      }
      const cancel = answer.hang ? () => {} : this.#clock.after(answer.afterMs ?? 10, act)
    }).finally(() => {
      this.open -= 1
    })
  }

  #incomingOf({
    status = 200,
    headers,
    body = '',
    streams,
    rest,
    fault,
  }: ScriptedAnswer): Incoming {
    const bytes = Buffer.from(body)
    return {
      status,
      headers: headers ?? ['content-type', 'application/json'],
      body: streams ? this.#stream(bytes, rest, fault) : bytes,
      trailers: () => [],
    }
  }

  #stream(start: Uint8Array, rest?: readonly string[], fault?: TransportFault): BodyStream {
    const waiting = Promise.withResolvers<IteratorResult<Uint8Array>>()
    const pieces = [start, ...(rest ?? []).map((each) => Buffer.from(each))]
    const results = pieces.map((value) => Promise.resolve({ done: false, value }))
    if (rest) waiting.resolve({ done: true, value: undefined })
    const iterator: AsyncIterator<Uint8Array> = {
      next: () => results.shift() ?? (fault ? Promise.reject(scripted(fault)) : waiting.promise),
      return: () => {
        this.released += 1
        waiting.resolve({ done: true, value: undefined })
        return waiting.promise
      },
    }
    return { head: [start], [Symbol.asyncIterator]: () => iterator }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

function scripted(fault: TransportFault): TransportError {
  const sent = !['refused', 'unresolved', 'tls', 'unsendable'].includes(fault)
  return new TransportError(fault, 'scripted', sent)
}
