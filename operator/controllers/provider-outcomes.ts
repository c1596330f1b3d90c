// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import type { FateInPods, ProviderVerdict, Running } from '../translate/translation.ts'
import type { ProviderOutcome } from './provider-results.ts'

/**
 * What a router made of its providers, by their keys.
 *
 * @param running of a router that was held back: what it goes on with; null of one that has what it asks for
 * @param find a provider by its key
 */
export function outcomesOf(
  { metadata: { namespace, name } }: RpcRouter,
  providers: readonly ProviderVerdict[],
  running: Running | null,
  find: (key: string) => KubeObject | undefined,
): ReadonlyMap<string, ProviderOutcome> {
  const outcomes = new Map<string, ProviderOutcome>()
  for (const verdict of providers) {
    const key = keyOf({ namespace, name: verdict.provider })
    const object = find(key)
    if (object === undefined) continue
    outcomes.set(key, {
      router: name,
      isPending: false,
      refusals: verdict.refusals,
      fate: running === null ? verdict.fate : fateIn(running, verdict),
      providerUid: object.metadata.uid ?? '',
      generation: object.metadata.generation ?? 0,
    })
  }
  return outcomes
}

/** What becomes of a provider while pods stay as they are. */
function fateIn({ upstreams, secretHashes }: Running, verdict: ProviderVerdict): FateInPods {
  const { provider, plan, fate, refusals, secretHashes: present } = verdict
  const ran = upstreams.find((upstream) => upstream.provider === provider)
  if (ran === undefined) return 'left-out'
  if (fate === 'kept-by-pods') return fate
  if (JSON.stringify(ran) !== JSON.stringify(plan)) return 'kept'
  const changed = [...present].filter(([place, hash]) => secretHashes.get(place) !== hash)
  if (changed.length === 0) return 'used'
  const isGone = changed.some(([, hash]) => hash === '')
  return isGone || refusals.length > 0 ? 'kept-by-pods' : 'outdated'
}
