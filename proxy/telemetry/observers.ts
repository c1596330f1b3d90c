// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../config/types.ts'
import type { CrossValidationObserver } from '../cross-validation/cross-validation.ts'
import type { ListenerObserver } from '../listener/listener.ts'
import type { RelayObserver } from '../relay/call.ts'
import type { SubscriptionObserver } from '../subscription/subscriptions.ts'
import type { PoolObserver } from '../upstream/observer.ts'

interface ObserverKinds {
  relayObserver: RelayObserver
  poolObserver: PoolObserver
  listenerObserver: ListenerObserver
  subscriptionObserver: SubscriptionObserver
  crossValidationObserver: CrossValidationObserver
}

type Kind = keyof ObserverKinds

/**
 * Creates the observers of one listener, its relay, pool, subscriptions and cross-validation. Call
 * each function once per listener; two listeners with the same chain and interface count as one.
 */
export type Observers = {
  readonly [K in Kind]: (chainId: string, apiInterface: ApiInterface) => ObserverKinds[K]
}

/** Creates an observer of one listener from the labels of its chain and interface. */
export function perListener<T>(make: (listener: { chain: string; interface: ApiInterface }) => T) {
  return (chain: string, apiInterface: ApiInterface) => make({ chain, interface: apiInterface })
}

/** Observers of some kinds, with some of their methods. */
type SomeObservers = {
  readonly [K in Kind]?: (...of: Parameters<Observers[K]>) => Partial<ObserverKinds[K]>
}

const methods: { readonly [K in Kind]: readonly (keyof ObserverKinds[K])[] } = {
  relayObserver: ['attemptEnded', 'breakerChanged', 'logsMismatched'],
  crossValidationObserver: ['validated', 'finalizedMismatch'],
  poolObserver: [
    'stateChanged',
    'cooldownBegan',
    'urlChanged',
    'dayUsed',
    'probeSent',
    'probeEnded',
    'exhausted',
    'verificationFailed',
    'reorged',
  ],
  listenerObserver: [
    'callEnded',
    'requestRefused',
    'connectionsChanged',
    'socketsChanged',
    'acceptFailed',
  ],
  subscriptionObserver: [
    'clientsChanged',
    'upstreamChanged',
    'joined',
    'left',
    'filled',
    'duplicateDropped',
    'fetchFailed',
    'ended',
    'failed',
  ],
}

/** Combines observers. Each of them receives every call, in order. */
export function combineObservers(all: readonly SomeObservers[]): Observers {
  const combine = (kind: Kind) => (chainId: string, apiInterface: ApiInterface) => {
    const each = all.map(
      (one) => (one[kind]?.(chainId, apiInterface) ?? {}) as Record<string, Observe>,
    )
    return Object.fromEntries(
      methods[kind].map((name) => [name, callAll(each.flatMap((one) => one[name] ?? []))]),
    )
  }
  const kinds = Object.keys(methods) as Kind[]
  return Object.fromEntries(kinds.map((kind) => [kind, combine(kind)])) as unknown as Observers
}

type Observe = (a: unknown, b: unknown, c: unknown, d: unknown) => void

/** Observers take at most four arguments; a rest parameter would allocate on each call. */
function callAll(observe: readonly Observe[]): Observe {
  return (a, b, c, d) => {
    for (const one of observe) one(a, b, c, d)
  }
}
