// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Position, SentChain } from './family.ts'

/** The newest part of the chain as it was sent: one branch, oldest first. */
export class History implements SentChain {
  readonly #most: number
  readonly #positions: Position[] = []
  readonly #byId = new Map<string, Position>()

  /** @param most how many positions are remembered */
  constructor(most: number) {
    this.#most = most
  }

  get tip(): Position | null {
    return this.#positions.at(-1) ?? null
  }

  get lowest(): Position | null {
    return this.#positions[0] ?? null
  }

  find(id: string): Position | null {
    return this.#byId.get(id) ?? null
  }

  append({ number, id, parent }: Position): void {
    const position = { number, id, parent }
    this.#positions.push(position)
    this.#byId.set(id, position)
    if (this.#positions.length > this.#most) this.#byId.delete(this.#positions.shift()?.id ?? '')
  }

  /** Forgets what was sent behind a position, or all for null. @returns what it was, newest first */
  goBackTo(fork: Position | null): readonly Position[] {
    const removed: Position[] = []
    for (let tip = this.tip; tip !== null && tip.id !== fork?.id; tip = this.tip) {
      this.#positions.pop()
      this.#byId.delete(tip.id)
      removed.push(tip)
    }
    return removed
  }
}
