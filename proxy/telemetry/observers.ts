// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../config/types.ts'
import type { ListenerObserver } from '../listener/observer.ts'
import type { RelayObserver } from '../relay/observer.ts'
import type { SubscriptionObserver } from '../subscription/subscriptions.ts'
import type { PoolObserver } from '../upstream/observer.ts'

/**
 * Makes what hears one listener, its relay and its pool. Ask once for each listener. Two listeners
 * of one chain and interface are told of as one.
 */
export interface Observers {
  relayObserver(chainId: string, apiInterface: ApiInterface): RelayObserver
  poolObserver(chainId: string, apiInterface: ApiInterface): PoolObserver
  listenerObserver(chainId: string, apiInterface: ApiInterface): ListenerObserver
  subscriptionObserver(chainId: string, apiInterface: ApiInterface): SubscriptionObserver
}

/** Lets all of them hear, in the order given. */
export function combineObservers(all: readonly Observers[]): Observers {
  return {
    relayObserver(chainId, apiInterface) {
      const each = all.map((one) => one.relayObserver(chainId, apiInterface))
      return {
        attemptEnded(call, attempt) {
          for (const one of each) one.attemptEnded(call, attempt)
        },
        breakerChanged(open) {
          for (const one of each) one.breakerChanged(open)
        },
      }
    },
    poolObserver(chainId, apiInterface) {
      const each = all.map((one) => one.poolObserver(chainId, apiInterface))
      return {
        stateChanged(upstream, from, to, why) {
          for (const one of each) one.stateChanged(upstream, from, to, why)
        },
        heldOff(upstream, url, holdOffMs) {
          for (const one of each) one.heldOff(upstream, url, holdOffMs)
        },
        verificationFailed(upstream, url, verification, why) {
          for (const one of each) one.verificationFailed(upstream, url, verification, why)
        },
      }
    },
    subscriptionObserver(chainId, apiInterface) {
      const each = all.map((one) => one.subscriptionObserver(chainId, apiInterface))
      return {
        clientsChanged(topic, clients) {
          for (const one of each) one.clientsChanged(topic, clients)
        },
        upstreamChanged(upstream, change) {
          for (const one of each) one.upstreamChanged(upstream, change)
        },
        joined(topic, upstream) {
          for (const one of each) one.joined(topic, upstream)
        },
        left(topic, upstream, why) {
          for (const one of each) one.left(topic, upstream, why)
        },
        filled(topic, blocks) {
          for (const one of each) one.filled(topic, blocks)
        },
        duplicateDropped(topic) {
          for (const one of each) one.duplicateDropped(topic)
        },
        fetchFailed(topic, forMs, why) {
          for (const one of each) one.fetchFailed(topic, forMs, why)
        },
        ended(topic, reason) {
          for (const one of each) one.ended(topic, reason)
        },
        failed(topic, error) {
          for (const one of each) one.failed(topic, error)
        },
      }
    },
    listenerObserver(chainId, apiInterface) {
      const each = all.map((one) => one.listenerObserver(chainId, apiInterface))
      return {
        callEnded(call, end, durationMs) {
          for (const one of each) one.callEnded(call, end, durationMs)
        },
        requestRefused(error, guid) {
          for (const one of each) one.requestRefused(error, guid)
        },
        connectionsChanged(open) {
          for (const one of each) one.connectionsChanged(open)
        },
        socketsChanged(open) {
          for (const one of each) one.socketsChanged(open)
        },
      }
    },
  }
}
