// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomInt, randomUUID } from 'node:crypto'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Strategy, SubscriptionConfig } from '../config/types.ts'
import { makeOwnCall } from '../listener/jsonrpc/jsonrpc-call.ts'
import type { SubscriptionServing } from '../listener/listener.ts'
import type { Relay } from '../relay/relay.ts'
import { createAsk } from '../subscription/ask.ts'
import { familyOf, subscriptionFormOf } from '../subscription/families/family-of.ts'
import { Hub } from '../subscription/hub.ts'
import type { SubscriptionObserver } from '../subscription/subscriptions.ts'
import type { Pool } from '../upstream/pool.ts'

export interface ServedSubscriptionsParts {
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly pool: Pool
  readonly relay: Relay
  readonly strategy: Strategy
  readonly processingTimeoutMs: number
  readonly config: SubscriptionConfig
  readonly clock: Clock
  readonly budget: ByteBudget
  readonly observer: SubscriptionObserver
}

export interface ServedSubscriptions extends SubscriptionServing {
  close(): void
}

/** Ids of subscriptions cannot be guessed. */
const unguessable: Random = { next: () => randomInt(2 ** 47) / 2 ** 47 }

/** Wires what the clients of a chain and interface can subscribe to; null where there is nothing. */
export function serveSubscriptions(parts: ServedSubscriptionsParts): ServedSubscriptions | null {
  const { chain, iface, relay } = parts
  const form = subscriptionFormOf(chain, iface)
  if (!form) return null
  const ask = createAsk(
    relay,
    (question) => makeOwnCall(question, randomUUID(), parts),
    parts.budget,
  )
  const family = familyOf(chain, iface, ask, parts.clock)
  const hub = new Hub({ ...parts, ...parts.config, family, random: unguessable })
  return { form, hub, random: unguessable, close: () => hub.close() }
}
