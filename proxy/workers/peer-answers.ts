// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SharedEntry } from '../cache/entry-codec.ts'
import { type AnswerKey, type AnswerSharing, leaseMs, type Peek } from '../cache/shared-cache.ts'
import { type Clock, sleep } from '../clock/clock.ts'
import type { Peers, Pull } from './messages.ts'
import type { OwnerTable } from './owner-table.ts'

/** Interval at which a worker checks for the answer that another waits for. */
const pollMs = 5
/** Longer answers are not passed to another worker. */
const maxBodyBytes = 2 * 1024 * 1024

type Pulled = SharedEntry | null

/**
 * Shares answers among workers. A worker claims each key that it fetches, and others pull the
 * answer from its cache when a client asks for it. Most answers are read at one worker only, so
 * storing all of them in one place would cost as much as the calls.
 */
export class PeerAnswers {
  readonly #peers: Peers
  readonly #clock: Clock
  readonly #owners: OwnerTable
  readonly #scopes = new Map<string, { readonly onReorg: () => void; readonly peek: Peek }>()
  readonly #pulls = new Map<number, { readonly from: number; settle(entry: Pulled): void }>()
  #lastPull = 0

  constructor(peers: Peers, clock: Clock, owners: OwnerTable) {
    this.#peers = peers
    this.#clock = clock
    this.#owners = owners
    peers.listen((from, message) => {
      if (message.kind === 'pull') void this.#answerPull(from, message)
      if (message.kind === 'pulled') this.#pulls.get(message.id)?.settle(message.entry)
      if (message.kind === 'reorged') this.#scopes.get(message.scope)?.onReorg()
      if (message.kind !== 'gone') return
      for (const pull of this.#pulls.values()) if (pull.from === from) pull.settle(null)
    })
  }

  /** @param onReorg called when another worker saw a reorg */
  share(scope: string, onReorg: () => void, peek: Peek): AnswerSharing {
    this.#scopes.set(scope, { onReorg, peek })
    return {
      // Without a store, nothing can fail.
      figures: { failures: 0, broken: 0 },
      isOneClock: true,
      lookUp: (key, adopt, mayWait, lifetimeMs = Infinity) =>
        mayWait && typeof key !== 'string' ? this.#lookUp(scope, key, adopt, lifetimeMs) : null,
      // Others pull what the cache has.
      keep: async () => {},
      drop: async () => {},
      // Precedes any later pull, so no worker answers that with a block that was replaced.
      reorged: async () => this.#peers.send(null, { kind: 'reorged', scope }),
    }
  }

  #lookUp<T>(
    scope: string,
    { start, bytes, end, hash }: Exclude<AnswerKey, string>,
    adopt: (entry: SharedEntry) => T | null,
    lifetimeMs: number,
  ) {
    const owner = this.#owners.find(hash, lifetimeMs + leaseMs)
    if (owner === null) {
      this.#owners.claim(hash)
      return null
    }
    const key = { start, bytes: bytes.subarray(0, end), end, hash }
    return this.#pull(owner, scope, key).then((stored) => {
      const entry = stored && adopt(stored)
      if (entry === null) this.#owners.claim(hash)
      return entry && { entry, reorgs: 0 }
    })
  }

  #pull(from: number, scope: string, key: Pull['key']): Promise<Pulled> {
    const { promise, resolve } = Promise.withResolvers<Pulled>()
    const id = (this.#lastPull += 1)
    const settle = (entry: Pulled) => {
      cancel()
      this.#pulls.delete(id)
      resolve(entry)
    }
    const cancel = this.#clock.after(leaseMs, () => settle(null))
    this.#pulls.set(id, { from, settle })
    this.#peers.send(from, { kind: 'pull', id, scope, key })
    return promise
  }

  /** Answers a pull, once the call is over if it is in flight. */
  async #answerPull(to: number, { id, scope, key }: Pull): Promise<void> {
    const peek = this.#scopes.get(scope)?.peek
    const untilMs = this.#clock.nowMs() + leaseMs
    let found = peek?.(key) ?? null
    while (found === 'in-flight' && this.#clock.nowMs() < untilMs) {
      await sleep(this.#clock, pollMs)
      found = peek?.(key) ?? null
    }
    const entry = found === 'in-flight' || (found?.body.length ?? 0) > maxBodyBytes ? null : found
    this.#peers.send(to, { kind: 'pulled', id, entry })
  }
}
