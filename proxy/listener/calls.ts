// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { isUpstreamsDoing } from '../relay/streamed-answer.ts'
import type { ByteStream } from '../upstream/wire.ts'
import type { CallEnd, ListenerOptions } from './listener.ts'

/** What came of a call. */
export type CallOutcome = Reply | RelayError | CallAborted

type CallsOptions = Pick<ListenerOptions, 'relay' | 'clock' | 'observer'>

/** Runs the calls of one listener, whatever its interface, and tells how they ended. */
export class Calls {
  readonly #options: CallsOptions

  constructor(options: CallsOptions) {
    this.#options = options
  }

  /** Never rejects: a failure that nobody foresaw is an internal error with its cause. */
  run(call: Call): Promise<CallOutcome> {
    return this.#options.relay(call).then(undefined, (cause: unknown) => {
      if (call.signal.aborted) return new CallAborted()
      return cause instanceof RelayError ? cause : internal(cause)
    })
  }

  /** The body of a streamed answer, of one item among others; the call ends with it, also when it is never read. */
  endingWith(body: ByteStream, call: Call, reply: Reply): ByteStream {
    const source = body[Symbol.asyncIterator]()
    let isOver = false
    const end = (outcome: CallOutcome) => {
      if (!isOver) this.ended(call, outcome)
      isOver = true
    }
    const iterator: AsyncIterator<Uint8Array, undefined> = {
      async next() {
        try {
          const result = await source.next()
          if (result.done) end(reply)
          return result as IteratorResult<Uint8Array, undefined>
        } catch (cause) {
          end(brokenOff(cause))
          throw cause
        }
      },
      async return() {
        end(new CallAborted())
        await source.return?.()
        return { done: true, value: undefined }
      },
    }
    return { length: body.length ?? null, [Symbol.asyncIterator]: () => iterator }
  }

  /** Tells the observer that a call to subscribe or unsubscribe was answered. */
  subscriptionAnswered(call: Call, isRefused: boolean): void {
    this.#tell(call, { kind: 'subscription', isRefused })
  }

  /** Tells the observer how a call ended. */
  ended(call: Call, outcome: CallOutcome): void {
    if (call.signal.aborted || outcome instanceof CallAborted)
      this.#tell(call, { kind: 'abandoned' })
    else if (outcome instanceof RelayError) this.#tell(call, { kind: 'error', error: outcome })
    else this.#tell(call, { kind: 'reply', reply: outcome })
  }

  #tell(call: Call, end: CallEnd): void {
    const { clock, observer } = this.#options
    observer.callEnded(call, end, clock.nowMs() - call.journal.startedMs)
  }
}

/** A defect of ours. Its cause is for the log; the client gets the guid to ask by. */
export function internal(cause: unknown): RelayError {
  return new RelayError(errorKinds.internal, 'internal error of the router', { cause })
}

/** The stream of an answer failed when a part of it may have been on its way: by its upstream, or by a defect of ours. */
export function brokenOff(cause: unknown): RelayError {
  if (!isUpstreamsDoing(cause)) return internal(cause)
  const message = 'the answer of the upstream broke off'
  return new RelayError(errorKinds.upstreamFailed, message, { cause })
}
