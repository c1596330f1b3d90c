// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../clock/cancellation.ts'
import type { Clock } from '../../clock/clock.ts'
import type { TransportFault } from '../../chain/failure-table.ts'
import { aborted, TransportError } from '../wire.ts'
import type { BodyStream, HeaderList, Incoming, Outgoing, Transport } from '../wire.ts'

/** What a scripted upstream does with one request. */
export interface ScriptedAnswer {
  /** Milliseconds until it does; 10 when not said. */
  readonly afterMs?: number
  readonly status?: number
  readonly headers?: HeaderList
  readonly body?: string
  /** Instead of an answer; of a stream, after its beginning. */
  readonly fault?: TransportFault
  /** The body is the beginning of a stream that goes on until it is released, or breaks. */
  readonly streams?: boolean
  /** What comes behind the beginning of a stream, which then ends. */
  readonly rest?: readonly string[]
  /** Instead of an answer: nothing, until it is aborted. */
  readonly hang?: boolean
  /** How far it says to have come meanwhile. */
  readonly progress?: string
}

export type Script = (request: Outgoing) => ScriptedAnswer

/** A transport without a wire: it plays a script on the clock that it is given. */
export class ScriptedTransport implements Transport {
  readonly #clock: Clock
  #script: Script
  /** Requests that were sent, as text, oldest first; empty for one that streams. */
  readonly requests: string[] = []
  /** Requests that are under way. */
  open = 0
  /** Requests that were aborted. */
  aborted = 0
  /** Streams that were let go. */
  released = 0

  constructor(clock: Clock, script: Script) {
    this.#clock = clock
    this.#script = script
  }

  /** From now on it behaves otherwise. */
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
