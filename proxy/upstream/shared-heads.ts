// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeUrl } from './upstream.ts'

/** The store that replicas share. A command that fails counts as a store without heads. */
export interface HeadStore {
  get(key: string): Promise<{ readonly value?: Uint8Array | undefined; readonly ttlMs?: number }>
  set(key: string, value: Buffer, ttlMs: number): Promise<unknown>
}

/** Longer than the longest polling interval: an entry's remaining time tells its age. */
const lifeMs = 600_000

/** Heads that replicas poll from the same nodes: one poll serves all of them. */
export class SharedHeads {
  readonly #store: HeadStore
  readonly #scope: string

  /** @param scope the chain and interface */
  constructor(store: HeadStore, scope: string) {
    this.#store = store
    this.#scope = scope
  }

  /** The head that a replica polled within `maxAgeMs`; null if there is none. */
  async recent(upstream: string, url: NodeUrl, maxAgeMs: number) {
    const found = await this.#store.get(this.#keyOf(upstream, url)).catch(() => null)
    const ageMs = lifeMs - (found?.ttlMs ?? 0)
    const block = Number(Buffer.from(found?.value ?? []).toString() || NaN)
    return Number.isSafeInteger(block) && ageMs <= maxAgeMs ? { block, ageMs } : null
  }

  polled(upstream: string, url: NodeUrl, block: number): void {
    const key = this.#keyOf(upstream, url)
    void this.#store.set(key, Buffer.from(`${block}`), lifeMs).catch(() => {})
  }

  #keyOf(upstream: string, { printable }: NodeUrl): string {
    return `h:${this.#scope}:${upstream}:${printable}`
  }
}
