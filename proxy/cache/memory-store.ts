// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import type { Entry } from './entry.ts'

/** What an entry takes beside its bytes and its key. */
const overheadBytes = 512

/** Answers in the memory of the process, up to a number of bytes. The least recently used go first. */
export class MemoryStore {
  readonly #entries: LRUCache<string, Entry>
  readonly #maxEntryBytes: number
  /** Entries that went although they were still true. */
  evictions = 0

  constructor(maxBytes: number) {
    // One answer must not drive out most others.
    this.#maxEntryBytes = Math.floor(maxBytes / 8)
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      dispose: (_entry, _key, reason) => {
        if (reason === 'evict') this.evictions += 1
      },
    })
  }

  get bytes(): number {
    return this.#entries.calculatedSize
  }

  get count(): number {
    return this.#entries.size
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** @returns whether there is room for one of its size */
  set(key: string, entry: Entry): boolean {
    const size = entry.body.length + key.length + overheadBytes
    if (size > this.#maxEntryBytes) return false
    this.#entries.set(key, entry, { size })
    return true
  }
}
