// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Chance, handed to everything that draws lots, so that a seed reproduces a run. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
}

/** The machine's own chance. Not for secrets. */
export const systemRandom: Random = { next: () => Math.random() }
