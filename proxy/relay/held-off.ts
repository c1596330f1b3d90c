// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pool } from '../upstream/pool.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'
import { mayHear } from './impersonal-refusal.ts'
import { wantedBy } from './needs.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'

/**
 * While nobody may be asked because whoever could answer asked to be left alone, the client gets
 * what that one said, under its own id and with the time that is left: a 429 that it can wait for,
 * rather than an error that tells it nothing. Nothing is sent.
 */
export function heldOff(pool: Pool): Step {
  return (next) => async (call) => {
    try {
      return await next(call)
    } catch (error) {
      // A call that reached somebody ends with that failure, which is another.
      if (!isEmptyPool(error)) throw error
      const reply = refusalFor(pool, call)
      if (reply === null) throw error
      return reply
    }
  }
}

function isEmptyPool(error: unknown): boolean {
  if (!(error instanceof RelayError)) return false
  return error.kind === errorKinds.noUpstream || error.kind === errorKinds.breakerOpen
}

/** Null when it is not for that reason, or its words are not known or are about another call. */
function refusalFor(pool: Pool, call: Call): Reply | null {
  const { upstream, url } = pool.nextHeldOff(wantedBy(call)) ?? {}
  const { refusal } = url?.holdOff ?? {}
  if (!upstream || !url || !refusal || !mayHear(refusal, call.request)) return null
  const { incoming, failure } = refusal
  const { body } = incoming
  if (!(body instanceof Uint8Array)) return null
  const told: Incoming = {
    ...incoming,
    // The time that it told is not kept with its words: it was right then.
    headers: [...incoming.headers, 'Retry-After', String(Math.ceil(url.holdOff.leftMs / 1_000))],
    body: call.reader.readdress?.(body) ?? body,
  }
  const latestBlock = upstream.latest?.block ?? null
  return { incoming: told, upstream: upstream.name, refusal: failure, latestBlock }
}
