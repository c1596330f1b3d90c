// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import type { Random } from '../../proxy/clock/random.ts'

/** Random draws from a seed. Each `stream` of a seed is independent of the others. */
export class Dice implements Random {
  readonly #random: Random

  constructor(seed: number, stream: number) {
    this.#random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b))
  }

  next(): number {
    return this.#random.next()
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** A number between the two; all orders of magnitude are equally likely. */
  scaled(least: number, most: number): number {
    return least * (most / least) ** this.next()
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T
  }

  times<T>(count: number, draw: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => draw(index))
  }

  /** Normally distributed, mean 0, deviation 1. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()))
    return radius * Math.cos(2 * Math.PI * this.next())
  }
}

/** Kinds, each with the draw of its properties. */
type Table = Readonly<Record<string, (dice: Dice) => object>>

export type Drawn<T extends Table> = {
  [Kind in keyof T]: Readonly<{ kind: Kind } & ReturnType<T[Kind]>>
}[keyof T]

/** Draws one of `kinds`; a kind that is listed twice is twice as likely. */
export function drawKind<T extends Table>(
  dice: Dice,
  table: T,
  kinds: readonly (keyof T)[] = kindsOf(table),
): Drawn<T> {
  const kind = dice.pick(kinds)
  return { kind, ...table[kind]!(dice) } as Drawn<T>
}

export function kindsOf<T extends object>(table: T): readonly (keyof T)[] {
  return Object.keys(table) as (keyof T)[]
}

/** Draws no properties. */
export const alone = () => ({})
