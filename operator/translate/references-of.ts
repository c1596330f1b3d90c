// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RedisConnection } from '../api/stores.ts'
import type { NamedValue, Tls } from '../api/refs.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'

/** Names of the Secrets and ConfigMaps that an object refers to. */
export interface ReferenceNames {
  readonly secrets: readonly string[]
  readonly configMaps: readonly string[]
}

/** What a provider refers to. */
export function referencesOfProvider({ spec }: UpstreamProvider): ReferenceNames {
  const auths = spec.nodeUrls.map(({ auth }) => auth)
  return namesIn(
    (spec.variables ?? []).map(({ valueFrom }) => valueFrom),
    auths.flatMap((auth) => [
      ...ofValues(auth?.headers),
      ...ofValues(auth?.query),
      ...ofTls(auth?.tls),
    ]),
  )
}

/** What a router itself refers to, a Redis that the operator runs for it apart. */
export function referencesOfRouter({ spec }: RpcRouter): ReferenceNames {
  return namesIn(
    [spec.cache?.redis, spec.sharedState.external].flatMap(ofRedis),
    (spec.specSources ?? []).map(({ configMap }) => ({ configMapKeyRef: configMap })),
    ofValues(spec.tracing?.headers),
  )
}

/** A reference to one Secret or ConfigMap, by its name. */
interface Reference {
  readonly secretKeyRef?: { readonly name: string } | undefined
  readonly configMapKeyRef?: { readonly name: string } | undefined
}

function ofValues(values: readonly NamedValue[] = []): readonly Reference[] {
  return values.flatMap(({ valueFrom }) => valueFrom ?? [])
}

function ofTls(tls: Tls | undefined): readonly Reference[] {
  const secret = tls?.clientCertificate?.secretName
  return [tls?.ca ?? {}, ...(secret === undefined ? [] : [{ secretKeyRef: { name: secret } }])]
}

function ofRedis(redis: RedisConnection | undefined): readonly Reference[] {
  return [
    { secretKeyRef: redis?.username },
    { secretKeyRef: redis?.password },
    ...ofTls(redis?.tls),
  ]
}

function namesIn(...all: readonly (readonly Reference[])[]): ReferenceNames {
  const references = all.flat()
  return {
    secrets: [...new Set(references.flatMap(({ secretKeyRef }) => secretKeyRef?.name ?? []))],
    configMaps: [
      ...new Set(references.flatMap(({ configMapKeyRef }) => configMapKeyRef?.name ?? [])),
    ],
  }
}
