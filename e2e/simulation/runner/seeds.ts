// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** So many seeds from one on, of which each thread takes the next that none has taken. */
export interface SharedSeeds {
  readonly from: number
  readonly count: number
  /** How many are taken, in memory that the threads share. */
  readonly taken: Int32Array<SharedArrayBuffer>
}

export function shareSeeds(from: number, count: number): SharedSeeds {
  return { from, count, taken: new Int32Array(new SharedArrayBuffer(4)) }
}

/** No thread waits for one that is slower, and no seed is run twice. */
export function* takeSeeds({ from, count, taken }: SharedSeeds): Generator<number> {
  for (let at = Atomics.add(taken, 0, 1); at < count; at = Atomics.add(taken, 0, 1)) yield from + at
}

/** The same for one thread alone. */
export function seedsFrom(from: number, count: number): Iterable<number> {
  return takeSeeds(shareSeeds(from, count))
}
