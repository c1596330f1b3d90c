// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AgeClass, CachePolicy } from '../config/types.ts'

/** How long answers of each class are kept, in milliseconds; 0: not at all. */
export type Lifetimes = Readonly<Record<AgeClass, number>>

/** Of answers that move with the chain, and of those that say that something is not there yet. */
const latestMs = 500

const usual = { finalized: 60 * 60_000, latest: latestMs }

/** How long the answers to each method of one chain and interface are kept: by the first policy that fits, or as usual. */
export function lifetimesOf(
  policies: readonly CachePolicy[],
  blockTimeMs: number,
): (method: string) => Lifetimes {
  const known = new Map<string, Lifetimes>()
  const rows = policies.map((policy) => ({ ...policy, pattern: patternOf(policy.method) }))
  return (method) => {
    let lifetimes = known.get(method)
    if (lifetimes === undefined) {
      const of = (ageClass: AgeClass, usualMs: number) => {
        const row = rows.find(
          (each) => each.pattern.test(method) && (each.ageClass ?? ageClass) === ageClass,
        )
        return row === undefined ? usualMs : (row.ttlMs ?? 0)
      }
      lifetimes = {
        finalized: of('finalized', usual.finalized),
        'near-head': of('near-head', blockTimeMs),
        latest: of('latest', Math.min(usual.latest, blockTimeMs)),
      }
      known.set(method, lifetimes)
    }
    return lifetimes
  }
}

function patternOf(method: string): RegExp {
  return new RegExp(`^${method.split('*').map(RegExp.escape).join('.*')}$`)
}
