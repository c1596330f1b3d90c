// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Randomness, passed to every component that needs it, so that a seed reproduces a run. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
}

/** The machine's own randomness. Not for secrets. */
export const systemRandom: Random = { next: () => Math.random() }
