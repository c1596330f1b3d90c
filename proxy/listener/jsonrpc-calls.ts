// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Call } from '../relay/call.ts'
import type { Directives } from '../relay/directives.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import { Journal } from '../relay/journal.ts'
import type { Reply } from '../relay/reply.ts'
import type { Relay } from '../relay/step.ts'
import type { HeaderList } from '../upstream/wire.ts'
import { idBytes } from './jsonrpc-error.ts'
import { sentForm } from './jsonrpc-outgoing.ts'
import { JsonRpcReplyReader } from './jsonrpc-reply-reader.ts'
import { RequestRefused, type JsonRpcRequest } from './jsonrpc-request.ts'
import type { CallEnd, ListenerObserver } from './observer.ts'

/** What all calls of one HTTP request have in common. */
export interface CallOrigin {
  /** An error when they cannot be understood. */
  readonly directives: Directives | RelayError
  readonly requestHeaders: HeaderList
  readonly signal: AbortSignal
}

/** A call whose reader knows how to put the client's id into the answer. */
export interface JsonRpcCall extends Call {
  readonly reader: JsonRpcReplyReader
}

export interface JsonRpcCallsOptions {
  readonly iface: ChainInterface
  readonly relay: Relay
  readonly clock: Clock
  readonly observer: ListenerObserver
}

/** Turns requests into calls and runs them. */
export class JsonRpcCalls {
  readonly #options: JsonRpcCallsOptions

  constructor(options: JsonRpcCallsOptions) {
    this.#options = options
  }

  /** @throws RequestRefused when the directives make no sense */
  make(request: JsonRpcRequest, origin: CallOrigin, guid: string): JsonRpcCall {
    const { iface, clock } = this.#options
    const { directives, requestHeaders, signal } = origin
    if (directives instanceof RelayError) throw new RequestRefused(directives, request.id)
    const asked = iface.classify(request)
    const sent = sentForm(request)
    const path = asked.internalPath ?? ''
    return {
      guid,
      asked,
      request: { verb: 'POST', path, headers: requestHeaders, body: sent.body },
      reader: new JsonRpcReplyReader(sent.id, idBytes(request.body, request.id)),
      directives,
      signal,
      journal: new Journal(clock.nowMs()),
      attemptKind: 'first',
    }
  }

  /** Never rejects: a failure that nobody foresaw is an internal error with its cause. */
  async run(call: JsonRpcCall): Promise<Reply | RelayError | CallAborted> {
    try {
      return await this.#options.relay(call)
    } catch (cause) {
      if (call.signal.aborted) return new CallAborted()
      return cause instanceof RelayError ? cause : internal(cause)
    }
  }

  /** Tells the observer how a call ended. */
  ended(call: JsonRpcCall, outcome: Reply | RelayError | CallAborted): void {
    const { clock, observer } = this.#options
    let end: CallEnd
    if (call.signal.aborted || outcome instanceof CallAborted) end = { kind: 'abandoned' }
    else if (outcome instanceof RelayError) end = { kind: 'error', error: outcome }
    else end = { kind: 'reply', reply: outcome }
    observer.callEnded(call, end, clock.nowMs() - call.journal.startedMs)
  }
}

/** A defect of ours. Its cause is for the log; the client gets the guid to ask by. */
export function internal(cause: unknown): RelayError {
  return new RelayError(errorKinds.internal, 'internal error of the router', { cause })
}
