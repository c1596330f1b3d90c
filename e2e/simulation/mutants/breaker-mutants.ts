// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const relay = (file: string) => `proxy/relay/${file}.ts`

/** Mistakes in when calls fail at once, and in who tries then. */
export const breakerMutants: readonly Mutant[] = [
  {
    name: 'the breaker opens after one empty pool',
    file: relay('breaker'),
    text: 'const threshold = 2',
    replacement: 'const threshold = 1',
  },
  {
    name: 'the breaker never closes',
    file: relay('breaker'),
    text: 'if (emptyPools >= threshold && pool.hasEligible) set(0)',
    replacement: '',
  },
  {
    name: 'the breaker keeps calls from disabled upstreams that could be tried',
    file: relay('breaker'),
    text: 'pool.hasAny && (trialSinceMs',
    replacement: 'pool.hasEligible && (trialSinceMs',
  },
  {
    name: 'a trial that hangs keeps all others from trying',
    file: relay('breaker'),
    text: 'clock.nowMs() - trialSinceMs >= trialMs',
    replacement: 'false',
  },
  {
    name: 'everybody is on trial at once',
    file: relay('breaker'),
    text: 'if (isTrial) trialSinceMs = sinceMs',
    replacement: '',
  },
  {
    name: 'only a pool that nobody may be asked in is empty',
    file: relay('breaker'),
    text: 'isUnanswered && !pool.hasEligible',
    replacement: 'isUnanswered && !pool.hasAny',
  },
  {
    name: 'an answer between two empty pools leaves the breaker half open',
    file: relay('breaker'),
    text: 'if (!isTrial || pool.hasEligible) set(0)',
    replacement: 'if (isTrial && pool.hasEligible) set(0)',
  },
  {
    name: 'the pages of failing nodes keep the breaker closed',
    file: relay('breaker'),
    text: 'if (tellsOfTrouble(reply) && !pool.hasEligible) set(emptyPools + 1)\n      else if',
    replacement: 'if',
  },
]
