// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { checkChains } from '../../proxy/config/checks/check-chains.ts'
import { type ListenerWithoutSocket, socketText } from '../../proxy/config/checks/socket-check.ts'
import { knownChains } from '../../proxy/validation/validate-config.ts'
import { quantityValue } from '../api/quantity.ts'
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { sentenceOf } from './validate-config.ts'
import { hidesPort } from './rendered-config.ts'
import type { Listener, UpstreamPlan } from './router-document.ts'
import type { ReadSpecs } from './spec-sources.ts'
import type { RouterRefusal } from './violations.ts'

/**
 * Says why no accepted provider serves an endpoint.
 * @param written every provider that the router selects
 */
export function unservedEndpoint(
  router: RpcRouter,
  { endpoint, serves }: Listener,
  written: readonly UpstreamPlan[],
  { catalog }: ReadSpecs,
): RouterRefusal {
  const { name, chainId, apiInterface } = endpoint
  const field = `spec.endpoints[${name}]`
  const entry = { 'chain-id': chainId, 'api-interface': apiInterface }
  const entries = { endpoints: [{ path: '', entry }], upstreams: [], policies: [] }
  const [problem] = checkChains(entries, knownChains(catalog), () => null)
  if (problem === undefined)
    return { reason: 'NoProviders', field, message: whyUnserved(router, serves, written) }
  // No provider can help, because the router lacks the chain or the interface.
  const key = problem.path.endsWith('chain-id') ? 'chainId' : 'apiInterface'
  return { reason: 'UnknownChain', field: `${field}.${key}`, message: sentenceOf(problem) }
}

function whyUnserved(
  { spec, metadata }: RpcRouter,
  wanted: string,
  written: readonly UpstreamPlan[],
): string {
  if (spec.providerSelector === undefined)
    return `nothing serves ${wanted}, since providerSelector is not set: it must match labels of UpstreamProviders, or be {} for all of them`
  const names = (upstreams: readonly UpstreamPlan[]) =>
    upstreams.map(({ provider }) => provider).join(', ')
  const requests = written.filter(({ serves }) => serves === wanted)
  const main = requests.filter(({ tier }) => tier === 'primary')
  if (main.length > 0)
    return `the UpstreamProviders that serve ${wanted} are not accepted: ${names(main)}`
  // The chains of unreadable providers are unknown.
  const unread = written.filter(({ serves }) => serves === '')
  if (requests.length === 0 && unread.length > 0)
    return `no accepted UpstreamProvider serves ${wanted}; selected but not accepted: ${names(unread)}`
  return requests.length > 0
    ? `the UpstreamProviders that serve ${wanted} all have the tier backup, and one must have the tier primary: ${names(requests)}`
    : `no UpstreamProvider of the namespace ${metadata.namespace} that providerSelector selects serves ${wanted}`
}

/** Returns effects of an accepted router that its owner may not expect. */
export function notesOfRouter(
  spec: RpcRouterSpec,
  upstreams: readonly UpstreamPlan[],
  withoutSocket: readonly ListenerWithoutSocket[],
): readonly string[] {
  const notes: string[] = []
  if (spec.skipWebsocketVerification === undefined)
    for (const listener of withoutSocket.filter(({ isCertain }) => isCertain))
      notes.push(`Subscriptions of ${listener.serves} are not served: ${socketText(listener)}`)
  const hiding = upstreams.filter(hidesPort).map(({ provider }) => provider)
  if (spec.networkPolicy.enabled && hiding.length > 0)
    notes.push(
      `The NetworkPolicy lets the pods connect to any address and port, since a URL of ${hiding.join(', ')} hides its port in a Secret: write scheme, host and port into the url itself`,
    )
  notes.push(...sharedUrls(upstreams))
  const unscaled = resourcesWithoutRequest(spec)
  if (unscaled.length > 0)
    notes.push(
      `The HorizontalPodAutoscaler cannot scale by ${unscaled.join(' and ')}: pod.resources.requests must be more than 0`,
    )
  return notes
}

/** Names providers of one chain and interface that have a URL in common, but not the URL. */
function sharedUrls(upstreams: readonly UpstreamPlan[]): readonly string[] {
  const urls = upstreams.flatMap(({ entry, provider, serves }) =>
    entry['node-urls'].map(({ url }) => ({ provider, serves, url: url.replace(/\/+$/, '') })),
  )
  const notes = Map.groupBy(urls, ({ serves, url }) => `${serves} ${url}`)
    .values()
    .flatMap(([first, ...others]) => {
      const names = new Set([first, ...others].map((each) => each?.provider))
      const text = `${[...names].join(', ')} have the same URL for ${first?.serves}: they count as ${names.size} upstreams, but are one node`
      return names.size > 1 ? [`The UpstreamProviders ${text}`] : []
    })
  return [...new Set(notes)]
}

/** Returns the resources that autoscaling needs but pods do not request. */
function resourcesWithoutRequest({ autoscaling, pod }: RpcRouterSpec): readonly string[] {
  if (autoscaling === undefined) return []
  const { targetCpuUtilizationPercent: cpu, targetMemoryUtilizationPercent: memory } = autoscaling
  const { requests = {}, limits = {} } = pod.resources ?? {}
  const isNone = (name: string) => quantityValue(requests[name] ?? limits[name]) === 0
  return [
    ...(isNone('cpu') && (cpu !== undefined || memory === undefined) ? ['cpu'] : []),
    ...(isNone('memory') && memory !== undefined ? ['memory'] : []),
  ]
}

const userInfo = /^[a-z]+:\/\/[^/?#@]*:(?<secret>[^/?#@]+)@/i
const keyInQuery = /[?&][^=&#]*(?:key|token|secret|password|auth)[^=&#]*=(?<secret>[^&#]+)/i

/** Returns effects of an accepted provider that its owner may not expect. */
export function notesOfProvider({ spec }: UpstreamProvider): readonly string[] {
  return spec.nodeUrls.flatMap(({ url }, index) => {
    const secrets = [userInfo, keyInQuery].map((form) => form.exec(url)?.groups?.['secret'])
    const isLiteral = secrets.some((secret) => secret !== undefined && !secret.includes('${'))
    return isLiteral
      ? [
          `spec.nodeUrls[${index}].url: a password or key is written into the URL, and so into this object and the ConfigMap of each router: move it to a Secret, and write \${NAME} for it, a name in spec.variables`,
        ]
      : []
  })
}
