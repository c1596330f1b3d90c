// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * What becomes of a subscription when its upstream fails. `live`: it goes on at another upstream, and
 * events in between are lost. All others are backfilled from the chain itself: `heads` and `logs` of
 * Ethereum's kind, `slots` and `roots` of Solana's, `blocks` and `headers` of Tendermint's.
 */
export type TopicKind = 'live' | 'heads' | 'logs' | 'slots' | 'roots' | 'blocks' | 'headers'

/** What a client subscribes to, in the one form that everybody shares who asks the same. */
export interface Topic {
  readonly kind: TopicKind
  /** Equal for two requests that ask the same, and for no others. */
  readonly key: string
  /** For metrics, the log and the documentation: a name that the interface itself has for it. */
  readonly name: string
  /** It is known what its events are: results. Others are searched for keys, as answers to unknown methods are. */
  readonly isNamed: boolean
  /** How it is asked for at an upstream. */
  readonly method: string
  readonly params: unknown
  /** How an upstream is told that it is no longer wanted, by the result of its answer. */
  unsubscribe(result: unknown): { readonly method: string; readonly params: unknown } | null
  /** What of an event all clients share; null: the whole of it. */
  readonly shared: ((result: Uint8Array) => Uint8Array) | null
  /** An event after which the node ends the subscription itself. */
  readonly isLast: ((result: Uint8Array) => boolean) | null
}
