// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RedisConnection } from '../api/redis.ts'
import type { NamedValue, ValueFrom } from '../api/refs.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { Tls } from '../api/tls.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'

/** Names of the Secrets and ConfigMaps that an object refers to. */
export interface ReferenceNames {
  readonly secrets: readonly string[]
  readonly configMaps: readonly string[]
}

/** What a provider refers to. */
export function referencesOfProvider({ spec }: UpstreamProvider): ReferenceNames {
  const names = new Names()
  for (const { valueFrom } of spec.variables ?? []) names.value(valueFrom)
  for (const { auth } of spec.nodeUrls) {
    names.values(auth?.headers)
    names.values(auth?.query)
    names.tls(auth?.tls)
  }
  return names.all
}

/** What a router itself refers to, a Redis that the operator runs for it apart. */
export function referencesOfRouter({ spec }: RpcRouter): ReferenceNames {
  const names = new Names()
  names.redis(spec.cache?.redis)
  names.redis(spec.sharedState.external)
  for (const { configMap } of spec.specSources ?? []) names.configMap(configMap?.name)
  names.values(spec.tracing?.headers)
  return names.all
}

class Names {
  readonly #secrets = new Set<string>()
  readonly #configMaps = new Set<string>()

  get all(): ReferenceNames {
    return { secrets: [...this.#secrets], configMaps: [...this.#configMaps] }
  }

  secret(name: string | undefined): void {
    if (name !== undefined) this.#secrets.add(name)
  }

  configMap(name: string | undefined): void {
    if (name !== undefined) this.#configMaps.add(name)
  }

  value(valueFrom: ValueFrom | undefined): void {
    this.secret(valueFrom?.secretKeyRef?.name)
    this.configMap(valueFrom?.configMapKeyRef?.name)
  }

  values(values: readonly NamedValue[] | undefined): void {
    for (const { valueFrom } of values ?? []) this.value(valueFrom)
  }

  tls(tls: Tls | undefined): void {
    this.value(tls?.ca)
    this.secret(tls?.clientCertificate?.secretName)
  }

  redis(connection: RedisConnection | undefined): void {
    this.secret(connection?.username?.name)
    this.secret(connection?.password?.name)
    this.tls(connection?.tls)
  }
}
