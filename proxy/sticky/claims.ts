// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Held, SharedKeys } from '../redis/shared-keys.ts'

/** A choice that some replica stored. */
export interface Claim {
  /** Name of the upstream. */
  readonly node: string
  /** Until it ends, on the clock of the store. */
  readonly leftMs: number
}

/** Receives what other replicas do. */
export interface ClaimListener {
  /** This choice was dropped. */
  dropped(key: string, node: string): void
  /** Whether drops are received; earlier ones may have been missed. */
  listening(isUp: boolean): void
}

/** Where replicas keep the choices of sessions. Each method throws when the store fails. */
export interface ClaimStore {
  /** The choice that stands; null: none. */
  find(key: string): Promise<Claim | null>
  /** Stores a choice unless there is one. @returns the node of the one that stands; null: this one is stored */
  claim(key: string, node: string, ttlMs: number): Promise<string | null>
  /** Removes a choice, unless it is another one by now, and announces that to all replicas. */
  drop(key: string, node: string): Promise<void>
  listen(listener: ClaimListener): void
}

const prefix = 'sticky:'

/** The claims in a store of keys, each under one that ends by itself. */
export class SharedClaims implements ClaimStore {
  readonly #keys: SharedKeys

  constructor(keys: SharedKeys) {
    this.#keys = keys
  }

  async find(key: string): Promise<Claim | null> {
    const { value, ttlMs: leftMs = 0 } = await this.#keys.get(prefix + key)
    return value && leftMs > 0 ? { node: textOf(value), leftMs } : null
  }

  async claim(key: string, node: string, ttlMs: number): Promise<string | null> {
    const first = await this.#keys.claim(prefix + key, Buffer.from(node), ttlMs)
    return first ? textOf(first) : null
  }

  async drop(key: string, node: string): Promise<void> {
    await this.#keys.delete(prefix + key, Buffer.from(node))
  }

  listen({ dropped, listening }: ClaimListener): void {
    const message = ({ key = '', value }: Held) => {
      if (value) dropped(key.slice(prefix.length), textOf(value))
    }
    this.#keys.watch(prefix, { message, listening })
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
