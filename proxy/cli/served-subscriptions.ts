// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes, randomUUID } from 'node:crypto'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import { makeOwnCall } from '../listener/own-call.ts'
import type { SubscriptionServing } from '../listener/session-subscriptions.ts'
import type { Relay } from '../relay/step.ts'
import { createAsk } from '../subscription/ask.ts'
import type { ChainKit } from '../subscription/chain-kit.ts'
import { ethereumKit } from '../subscription/chains/ethereum-kit.ts'
import { subscriptionFormOf } from '../subscription/forms/form-of.ts'
import { Hub } from '../subscription/hub.ts'
import type { SubscriptionObserver } from '../subscription/observer.ts'
import type { Pool } from '../upstream/pool.ts'

export interface ServedSubscriptionsParts {
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly pool: Pool
  readonly relay: Relay
  readonly strategy: Strategy
  readonly clock: Clock
  readonly observer: SubscriptionObserver
}

export interface ServedSubscriptions extends SubscriptionServing {
  close(): void
}

/** What no reader of the chain makes whole goes on elsewhere with what comes next. */
const liveKit: ChainKit = {
  sequenceOf: () => null,
  sequence() {
    throw new Error('a chain without sequences was asked for one')
  },
  derived: () => null,
}

/** More missed blocks than this end a subscription: its clients are told to leave, not left with a hole. */
const maxGapBlocks = 1_000
/** A source without news for so many block times is looked after. */
const stallBlocks = 3

/** Ids of subscriptions cannot be guessed. */
const unguessable: Random = { next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48 }

/** Wires what the clients of a chain and interface can subscribe to; null where there is nothing. */
export function serveSubscriptions(parts: ServedSubscriptionsParts): ServedSubscriptions | null {
  const { chain, iface, relay } = parts
  const form = subscriptionFormOf(chain, iface)
  if (!form || !iface.hasSubscriptions) return null
  const ask = createAsk(relay, (question) => makeOwnCall(question, randomUUID(), parts))
  const kit = chain.family === 'evm' ? ethereumKit(ask) : liveKit
  const hub = new Hub({ ...parts, kit, maxGapBlocks, stallBlocks })
  return {
    form,
    hub,
    random: unguessable,
    close() {
      hub.close()
    },
  }
}
