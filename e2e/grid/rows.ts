// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Badness, type Kind, type PoolName, startCell } from './cell.ts'

const poolNames: readonly PoolName[] = ['one of two', 'one of three', 'all of three', 'with backup']

/** The rows of a grid as text: a fault, a kind of call, and the expected outcome in each pool. */
export function rowsOf(grid: string): readonly (readonly string[])[] {
  return grid
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length > 1)
    .slice(1)
}

/** Sends one call in each pool, and returns the outcomes in the notation of the grid. */
export function seenIn(
  badness: Badness,
  kind: string,
  wanted: readonly string[],
): Promise<readonly string[]> {
  return Promise.all(
    poolNames.map(async (poolName, at) => {
      const cell = await startCell(poolName, badness)
      let answer: string
      try {
        answer = await cell.ask(kind as Kind)
        await cell.settled(wanted[at]?.split(' ').at(-1) ?? '')
      } finally {
        await cell[Symbol.asyncDispose]()
      }
      return `${answer} ${cell.calls()}`
    }),
  )
}
