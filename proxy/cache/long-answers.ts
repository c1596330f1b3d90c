// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ByteBudget, Held } from '../bytes/byte-budget.ts'
import { budgetLimits } from '../bytes/limits.ts'
import type { StreamedAnswer } from '../relay/streamed-answer.ts'

/**
 * Copies of answers that stream, taken while their clients read them. A client may read as slowly as it likes, so all
 * copies together take a part of the budget and no more.
 */
export class LongAnswers {
  readonly #budget: ByteBudget
  readonly #held: Held

  constructor(budget: ByteBudget) {
    this.#budget = budget
    this.#held = new Held(budget)
  }

  /**
   * @param whole gets all of it, unless it breaks off or there is no room
   * @returns false where there is none at the beginning
   */
  copy(answer: StreamedAnswer, maxBytes: number, whole: (bytes: Uint8Array) => void): boolean {
    const [budget, held] = [this.#budget, this.#held]
    const maxHeldBytes = budget.maxBytes * budgetLimits.copyShare
    const hasRoom = (bytes: number) =>
      bytes <= maxBytes && !budget.isTight && held.heldBytes < maxHeldBytes
    if (!hasRoom(answer.length ?? 0)) return false
    const pieces: Uint8Array[] = []
    let bytes = 0
    const end = (isWhole: boolean) => {
      answer.copy = null
      held.hold(-bytes)
      if (isWhole) whole(Buffer.concat(pieces))
    }
    const push = (piece: Uint8Array) => {
      if (!hasRoom(bytes + piece.length)) return end(false)
      pieces.push(piece)
      bytes += piece.length
      held.hold(piece.length)
    }
    answer.copy = { push, end }
    return true
  }
}
