// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Endpoint } from '../api/endpoints.ts'
import { settingSources } from './router-settings.ts'

const camelKeys: readonly (readonly [key: string, name: string])[] = [
  ['auth-config.auth-headers', 'auth.headers'],
  ['auth-config.auth-query', 'auth.query'],
  ['auth-config.tls.ca-file', 'auth.tls.ca'],
  ['auth-config.tls.cert-file', 'auth.tls.clientCertificate'],
  ['auth-config.tls.key-file', 'auth.tls.clientCertificate'],
  ['auth-config', 'auth'],
  ['grpc-config', 'grpc'],
  ['set-relay-retry-limit', 'retryLimit'],
  ['max-relay-attempts', 'maxAttempts'],
  ['default-processing-timeout', 'processingTimeout'],
  ['forbid-caller-cv', 'forbidCallers'],
]

const topFields: ReadonlyMap<string, string> = new Map([
  ...settingSources.map(({ key, field }) => [key as string, field] as const),
  ['use-static-spec', 'spec.specSources'],
  ['shared-state', 'spec.sharedState'],
  ['cross-validation', 'spec.crossValidation'],
])

/** The field of a provider for a place in its entry of the config: `node-urls[0].url` is `spec.nodeUrls[0].url`. */
export function providerField(place: string): string {
  if (place === '') return 'spec'
  return place === 'name' ? 'spec.upstreamName' : `spec.${camelCase(place)}`
}

/**
 * The field of a router for a place in the config that is of no upstream.
 *
 * @param endpoints that the config has, in its order
 * @param storeField where the key-value store comes from
 */
export function routerField(
  place: string,
  endpoints: readonly Pick<Endpoint, 'name'>[],
  storeField: string,
): string {
  const [, top = '', rest = ''] = /^([^.[]*)(.*)$/.exec(place) ?? []
  if (top === 'endpoints') {
    const [, index = '', inner = ''] = /^\[(\d+)\](.*)$/.exec(rest) ?? []
    const name = endpoints[Number(index)]?.name
    const key = inner === '.network-address' ? '.port' : camelCase(inner)
    return name === undefined ? 'spec.endpoints' : `spec.endpoints[${name}]${key}`
  }
  if (top === 'resp-cache') return storeField + camelCase(rest)
  const field = topFields.get(top)
  return field === undefined ? 'spec' : field + camelCase(rest)
}

function camelCase(place: string): string {
  const named = camelKeys.find(([key]) => place.includes(key))
  if (named !== undefined) {
    const [key, name] = named
    const at = place.indexOf(key)
    return camelCase(place.slice(0, at)) + name + place.slice(at + key.length)
  }
  return place.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
