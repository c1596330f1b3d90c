// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import { keyOf, type KubeObject } from '../kube/object.ts'
import type { RouterVerdict } from '../status/provider-status.ts'
import type { Translation } from '../translate/translation.ts'

/** What a router made of one of the providers that it selects, and of which state of it. */
export interface ProviderResult extends RouterVerdict {
  readonly providerUid: string
  readonly generation: number
}

/**
 * What a router made of the providers that it selects, by their keys.
 *
 * @param seen the providers as they were translated
 * @param isHeld the router was held back: its pods go on with the config that they have
 */
export function resultsOf(
  router: string,
  { providers }: Translation,
  seen: readonly KubeObject[],
  isHeld: boolean,
): ReadonlyMap<string, ProviderResult> {
  const verdicts = new Map(providers.map((verdict) => [verdict.provider, verdict]))
  const results = new Map<string, ProviderResult>()
  for (const { metadata } of seen) {
    const verdict = verdicts.get(metadata.name)
    if (verdict === undefined) continue
    results.set(keyOf(metadata), {
      router,
      refusals: verdict.refusals,
      fate: isHeld ? 'held' : verdict.isUsed ? 'used' : 'left-out',
      providerUid: metadata.uid ?? '',
      generation: metadata.generation ?? 0,
    })
  }
  return results
}

/** What the routers made of their providers: reported by the routers, read by the providers' own controller. */
export class ProviderResults {
  /** By key of the router, then by key of the provider. */
  readonly #byRouter = new Map<string, ReadonlyMap<string, ProviderResult>>()

  /** @returns the keys of the providers for which something changed */
  set(router: string, results: ReadonlyMap<string, ProviderResult>): readonly string[] {
    const before = this.#byRouter.get(router) ?? new Map<string, ProviderResult>()
    this.#byRouter.set(router, results)
    const all = new Set([...before.keys(), ...results.keys()])
    return [...all].filter((key) => !isDeepStrictEqual(before.get(key), results.get(key)))
  }

  /** @returns the keys of the providers that the router had */
  forget(router: string): readonly string[] {
    const before = this.#byRouter.get(router)
    this.#byRouter.delete(router)
    return [...(before?.keys() ?? [])]
  }

  get(router: string, provider: string): ProviderResult | null {
    return this.#byRouter.get(router)?.get(provider) ?? null
  }
}
