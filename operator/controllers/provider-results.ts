// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { RouterVerdict } from '../status/provider-status.ts'

/** What a router made of one of the providers that it selects, and of which state of it. */
export interface ProviderOutcome extends RouterVerdict {
  readonly providerUid: string
  readonly generation: number
}

/** What the routers made of their providers: reported by the routers, read by the providers' own controller. */
export class ProviderResults {
  /** By key of the router, then by key of the provider. */
  readonly #byRouter = new Map<string, ReadonlyMap<string, ProviderOutcome>>()

  /** @returns the keys of the providers for which something changed */
  set(router: string, outcomes: ReadonlyMap<string, ProviderOutcome>): readonly string[] {
    const before = this.#byRouter.get(router) ?? new Map<string, ProviderOutcome>()
    this.#byRouter.set(router, outcomes)
    const all = new Set([...before.keys(), ...outcomes.keys()])
    return [...all].filter((key) => !isDeepStrictEqual(before.get(key), outcomes.get(key)))
  }

  /** @returns the keys of the providers that the router had */
  forget(router: string): readonly string[] {
    const before = this.#byRouter.get(router)
    this.#byRouter.delete(router)
    return [...(before?.keys() ?? [])]
  }

  get(router: string, provider: string): ProviderOutcome | null {
    return this.#byRouter.get(router)?.get(provider) ?? null
  }
}
