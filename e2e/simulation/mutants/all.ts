// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { subscriptionMutants } from './subscription-mutants.ts'
import { listenerMutants } from './listener-mutants.ts'
import type { Mutant } from './mutant.ts'
import { breakerMutants } from './breaker-mutants.ts'
import { engineMutants } from './engine-mutants.ts'

/** Every mistake that must be noticed. */
export const mutants: readonly Mutant[] = [
  ...engineMutants,
  ...breakerMutants,
  ...subscriptionMutants,
  ...listenerMutants,
]
