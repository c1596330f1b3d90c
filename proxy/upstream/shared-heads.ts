// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { parseJson } from '../json/scanner.ts'
import type { NodeUrl } from './node-url.ts'
import type { Pool } from './pool.ts'

/** The store that replicas share. A command that fails counts as a store without heads. */
export interface HeadStore {
  get(key: string): Promise<{ readonly value?: Uint8Array | undefined; readonly ttlMs?: number }>
  set(key: string, value: Buffer, ttlMs: number): Promise<unknown>
  /** Announces the key, though it has no value to delete. */
  delete(key: string, value: Buffer): Promise<unknown>
  watch(prefix: string, subscriber: HeadSubscriber): void
}

interface HeadSubscriber {
  message(announced: { readonly value?: Uint8Array | undefined }): void
  listening(isUp: boolean): void
}

/** Longer than any polling interval. The remaining TTL of an entry tells its age. */
const lifeMs = 600_000

/** Heads that replicas poll from the same nodes: one poll serves all of them. */
export class SharedHeads {
  readonly #store: HeadStore
  readonly #scope: string
  readonly #isOneMachine: boolean

  /**
   * @param scope the chain and interface
   * @param isOneMachine whether all processes share a machine, so that one verifies for all
   */
  constructor(store: HeadStore, scope: string, isOneMachine = false) {
    this.#store = store
    this.#scope = scope
    this.#isOneMachine = isOneMachine
  }

  /** Whether another process on this machine verified the URL within `maxAgeMs`. */
  async isVerified(upstream: string, url: NodeUrl, maxAgeMs: number): Promise<boolean> {
    const key = this.#verifiedKeyOf(upstream, url)
    return this.#isOneMachine && (await this.#recent(key, maxAgeMs)) !== null
  }

  /** Records that a URL, with all of its add-ons, has passed verification. */
  verified(upstream: string, url: NodeUrl): void {
    const key = this.#verifiedKeyOf(upstream, url)
    if (this.#isOneMachine) void this.#store.set(key, Buffer.from('1'), lifeMs).catch(() => {})
  }

  /** The head that a replica polled within `maxAgeMs`; null if there is none. */
  recent(upstream: string, url: NodeUrl, maxAgeMs: number) {
    return this.#recent(this.#keyOf(upstream, url), maxAgeMs)
  }

  async #recent(key: string, maxAgeMs: number) {
    const found = await this.#store.get(key).catch(() => null)
    const ageMs = lifeMs - (found?.ttlMs ?? 0)
    const block = Number(Buffer.from(found?.value ?? []).toString() || NaN)
    return Number.isSafeInteger(block) && ageMs <= maxAgeMs ? { block, ageMs } : null
  }

  polled(upstream: string, url: NodeUrl, block: number): void {
    const key = this.#keyOf(upstream, url)
    void this.#store.set(key, Buffer.from(`${block}`), lifeMs).catch(() => {})
  }

  /** Announces the rises of a pool's heads to all replicas, and takes theirs. */
  join(pool: Pool, clock: Clock): void {
    pool.onRise = ({ name }, { printable }, block) => {
      const value = Buffer.from(JSON.stringify([name, printable, block]))
      void this.#store.delete(this.#announced, value).catch(() => {})
    }
    const message: HeadSubscriber['message'] = ({ value }) => {
      // Others can write to the store.
      const announced = value && parseJson(value)
      if (!Array.isArray(announced)) return
      const [name, printable, block] = announced as readonly unknown[]
      const upstream = pool.upstreams.find((each) => each.name === name)
      if (!upstream || typeof block !== 'number' || !Number.isSafeInteger(block)) return
      if (block <= (upstream.latest?.block ?? 0)) return
      const url = upstream.urls.find((each) => each.printable === printable)
      if (url?.verified === true && url.failures === 0)
        pool.observeHead(upstream, block, clock.nowMs(), url, 0)
      // The head of a WebSocket says nothing about other URLs.
      else if (!url) upstream.requestProbe?.()
    }
    this.#store.watch(this.#announced, { message, listening: () => {} })
  }

  get #announced(): string {
    return `risen:${this.#scope}`
  }

  #keyOf(upstream: string, { printable }: NodeUrl): string {
    return `h:${this.#scope}:${upstream}:${printable}`
  }

  /** Has the position, because URLs may differ only in API keys, which are not printed. */
  #verifiedKeyOf(upstream: string, url: NodeUrl): string {
    return `v:${url.position}:${this.#keyOf(upstream, url)}`
  }
}
