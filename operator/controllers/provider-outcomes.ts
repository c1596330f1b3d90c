// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import type { ProviderVerdict } from '../translate/translation.ts'
import type { ProviderOutcome } from './provider-results.ts'

/**
 * What a router made of its providers, by their keys.
 *
 * @param isHeld the router was held back: its pods go on with the config that they have
 * @param find a provider by its key
 */
export function outcomesOf(
  { metadata: { namespace, name } }: RpcRouter,
  providers: readonly ProviderVerdict[],
  isHeld: boolean,
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
      fate: isHeld ? 'held' : verdict.isUsed ? 'used' : 'left-out',
      providerUid: object.metadata.uid ?? '',
      generation: object.metadata.generation ?? 0,
    })
  }
  return outcomes
}
