// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AgeClass, CachePolicy } from '../config/types.ts'

/** How long answers of each class are kept, in milliseconds; 0: not at all. */
export type Lifetimes = Readonly<Record<AgeClass, number>>

/** How long the answers to each method of one chain and interface are kept: by the first policy that fits, or as usual. */
export function lifetimesOf(
  policies: readonly CachePolicy[],
  blockTimeMs: number,
): (method: string) => Lifetimes {
  // 500 ms: also of answers that say that something is not there yet.
  const latest = Math.min(500, blockTimeMs)
  const usual = { finalized: 60 * 60_000, 'near-head': blockTimeMs, latest }
  const of = (method: string, ageClass: AgeClass) => {
    const fits = policies.filter(({ pattern }) => pattern.test(method))
    const row = fits.find((each) => (each.ageClass ?? ageClass) === ageClass)
    return row === undefined ? usual[ageClass] : (row.ttlMs ?? 0)
  }
  const known = new Map<string, Lifetimes>()
  return (method) => {
    let lifetimes = known.get(method)
    if (lifetimes) return lifetimes
    const [finalized, nearHead] = [of(method, 'finalized'), of(method, 'near-head')]
    lifetimes = { finalized, 'near-head': nearHead, latest: of(method, 'latest') }
    known.set(method, lifetimes)
    return lifetimes
  }
}
