// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Where a block, a height or a slot stands on its chain. */
export interface Position {
  /** Height or slot: rises along the chain. */
  readonly number: number
  /** A block's hash; where no two blocks can be at one height, the height. */
  readonly id: string
  /** The id of the one before it; null where that is not known. */
  readonly parent: string | null
}

/** The newest part of the chain as it was sent: one branch, oldest first. */
export class History {
  readonly #most: number
  readonly #positions: Position[] = []
  #isCut = false

  /** @param most how many positions are remembered */
  constructor(most: number) {
    this.#most = most
  }

  get tip(): Position | null {
    return this.#positions.at(-1) ?? null
  }

  /** Behind which everything was sent; null once that is forgotten. */
  get lowest(): Position | null {
    return (this.#isCut ? null : this.#positions[0]) ?? null
  }

  find(id: string): Position | null {
    return this.#positions.findLast((each) => each.id === id) ?? null
  }

  append({ number, id, parent }: Position): void {
    this.#positions.push({ number, id, parent })
    if (this.#positions.length <= this.#most) return
    this.#positions.shift()
    this.#isCut = true
  }

  /** Forgets what was sent behind a position, or all for null. @returns what it was, newest first */
  goBackTo(fork: Position | null): readonly Position[] {
    const kept = fork ? this.#positions.findIndex(({ id }) => id === fork.id) + 1 : 0
    return this.#positions.splice(kept).toReversed()
  }
}
