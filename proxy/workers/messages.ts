// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SharedEntry } from '../cache/entry-codec.ts'
import type { AnswerKey } from '../cache/shared-cache.ts'
import type { ConfigSnapshot } from '../router/checked-config.ts'
import type { Refusal } from '../router/reload.ts'
import type { SharedCooldown } from '../router/router.ts'

/* The messages between a supervisor and its workers, over the channel of `child_process.fork`. */

/** Set for a worker, with its number from 1. */
export const workerVariable = 'ROUTER_WORKER'

/** How a worker begins to serve. */
export interface Start {
  readonly kind: 'start'
  readonly count: number
  readonly snapshot: ConfigSnapshot
  /** The unix socket of this worker's pages. */
  readonly pages: string
  /** Directory of the shared store's socket, `store`, and of the table `owners`. */
  readonly directory: string
  /** The file descriptor of the recording; null: none. */
  readonly recording: number | null
}

export type ToWorker =
  | Start
  | { readonly kind: 'prepare'; readonly snapshot: ConfigSnapshot }
  | { readonly kind: 'commit' | 'discard' | 'ping' }
  | { readonly kind: 'stop'; readonly signal: string }
  | { readonly kind: 'relayed'; readonly from: number; readonly message: PeerMessage }

export type FromWorker =
  /** `started`: it listens on every address. */
  | { readonly kind: 'started' | 'pong' }
  | { readonly kind: 'prepared'; readonly refusal: Refusal | null }
  /** @param to a worker; null: all others */
  | { readonly kind: 'relay'; readonly to: number | null; readonly message: PeerMessage }

/** A message from one worker to others. */
export type PeerMessage =
  | { readonly kind: 'cooldown'; readonly cooldown: SharedCooldown }
  | Pull
  | { readonly kind: 'pulled'; readonly id: number; readonly entry: SharedEntry | null }
  | { readonly kind: 'reorged'; readonly scope: string }
  /** The worker has ended or is not serving yet. */
  | { readonly kind: 'gone' }

/** Asks a worker for an answer. */
export interface Pull {
  readonly kind: 'pull'
  readonly id: number
  /** Chain, interface and listener. */
  readonly scope: string
  readonly key: Exclude<AnswerKey, string>
}

/** The other workers, as one of them sees them. */
export interface Peers {
  send(to: number | null, message: PeerMessage): void
  listen(received: (from: number, message: PeerMessage) => void): void
}
