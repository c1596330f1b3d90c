// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../../proxy/clock/clock.ts'
import type { ChainModel } from '../../upstream-sim/chain-model.ts'
import type { Dice } from '../dice.ts'
import type { SubscriptionNodePlan } from './schedule.ts'

/** An abandoned branch grows by this share of the canonical chain's blocks. */
const growth = 0.7

/** Nodes on an abandoned branch, as after a temporary network split. */
export class Forks {
  readonly #branches = new Map<string, number>()

  /** @param changed called when a node changes its branch */
  constructor(
    nodes: readonly SubscriptionNodePlan[],
    chain: ChainModel,
    clock: Clock,
    changed: (event: string) => void,
  ) {
    for (const { name, forks } of nodes)
      for (const { fromMs, untilMs } of forks) {
        clock.after(fromMs, () => void this.#branches.set(name, chain.branch))
        clock.after(untilMs, () => {
          this.#branches.delete(name)
          changed(`${name} returns to the canonical branch`)
        })
      }
  }

  /** The branch of a node; null for the canonical branch. */
  branchOf(name: string): number | null {
    return this.#branches.get(name) ?? null
  }

  /** Call it after each block of the canonical chain. */
  mined(chain: ChainModel, dice: Dice): void {
    for (const branch of new Set(this.#branches.values()))
      if (dice.chance(growth)) chain.mineOnLeft(branch)
  }
}
