// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { readSpecSources } from './spec-sources.ts'
import { chooseState, storeSection } from './state-store.ts'
import { upstreamEntry } from './upstreams.ts'
import { ValueCollector } from './value-collector.ts'

/** Names of the Secrets and ConfigMaps that an object refers to. */
export interface ReferenceNames {
  readonly secrets: readonly string[]
  readonly configMaps: readonly string[]
}

/** What a provider refers to. */
export function referencesOfProvider(provider: UpstreamProvider): ReferenceNames {
  return namesAskedBy((collector) => upstreamEntry(provider, provider.spec.chainId, collector))
}

/** What a router itself refers to, a Redis that the operator runs for it apart. */
export function referencesOfRouter(router: RpcRouter): ReferenceNames {
  return namesAskedBy((collector) => {
    storeSection(router, chooseState(router.spec).store, collector)
    readSpecSources(router.spec.specSources, collector)
  })
}

/** The names that are asked for while a part of the config is written. */
function namesAskedBy(write: (collector: ValueCollector) => void): ReferenceNames {
  const [secrets, configMaps] = [new Set<string>(), new Set<string>()]
  const noting = (names: Set<string>) => (name: string) => {
    names.add(name)
    return null
  }
  write(new ValueCollector({ secret: noting(secrets), configMap: noting(configMaps) }))
  return { secrets: [...secrets], configMaps: [...configMaps] }
}
