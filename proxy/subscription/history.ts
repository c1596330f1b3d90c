// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Place, ToldChain } from './link.ts'

/** The newest part of the chain as it was told: one branch, oldest first. */
export class History implements ToldChain {
  readonly #most: number
  readonly #places: Place[] = []
  readonly #byId = new Map<string, Place>()

  /** @param most how many places are remembered */
  constructor(most: number) {
    this.#most = most
  }

  get tip(): Place | null {
    return this.#places.at(-1) ?? null
  }

  get lowest(): Place | null {
    return this.#places[0] ?? null
  }

  find(id: string): Place | null {
    return this.#byId.get(id) ?? null
  }

  append({ number, id, parent }: Place): void {
    const place = { number, id, parent }
    this.#places.push(place)
    this.#byId.set(id, place)
    if (this.#places.length > this.#most) this.#byId.delete((this.#places.shift() as Place).id)
  }

  /** Forgets what was told behind a place, or all for null. @returns what it was, newest first */
  goBackTo(fork: Place | null): readonly Place[] {
    const gone: Place[] = []
    for (let tip = this.tip; tip !== null && tip.id !== fork?.id; tip = this.tip) {
      this.#places.pop()
      this.#byId.delete(tip.id)
      gone.push(tip)
    }
    return gone
  }
}
