// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { unsupportedMessage } from '../../proxy/config/capabilities.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { NetworkPolicyPeer } from '../api/exposure.ts'
import { type LabelSelector, isQualifiedName, labelValue } from '../api/labels.ts'
import type { Resources } from '../api/quantity.ts'
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'
import { sentenceOf } from './judge-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import { type Listener, isPrimary, upstreamsOf } from './serving.ts'
import type { ChainCheck } from './spec-sources.ts'
import type { Candidate } from './upstreams.ts'
import type { RouterRefusal } from './violation.ts'

/** What the spec can say and the router's config has no key for yet, in the router's own sentence. */
export function refusalsOfSpec(spec: RpcRouterSpec): readonly RouterRefusal[] {
  const { tracing, cache } = spec
  return [
    ...refusalsOfLabels(spec),
    ...(tracing === undefined ? [] : [unsupported('spec.tracing', 'tracing')]),
    ...(cache?.type === 'Memory' ? [unsupported('spec.cache.type', 'a cache in memory')] : []),
  ]
}

function unsupported(field: string, name: string): RouterRefusal {
  return { reason: 'Unsupported', field, message: unsupportedMessage(name) }
}

/**
 * Endpoints that nothing acceptable serves, each with what is known of the reason.
 *
 * @param accepted upstreams that were not refused
 */
export function unservedEndpoints(
  router: RpcRouter,
  closed: readonly Listener[],
  accepted: readonly UpstreamPlan[],
  candidates: readonly Candidate[],
  checkUses: ChainCheck,
): readonly RouterRefusal[] {
  const written = candidates.map(({ plan }) => plan)
  return closed
    .filter((listener) => !upstreamsOf(listener, accepted).some(isPrimary))
    .map((listener) => {
      const { endpoint, serves } = listener
      const impossible = impossibleEndpoint(endpoint, checkUses)
      if (impossible !== null) return impossible
      const asked = upstreamsOf(listener, written)
      const unread = written.filter((plan) => plan.serves === '')
      const message = whyUnserved(router, serves, asked, unread)
      return { reason: 'NoProviders', field: `spec.endpoints[${endpoint.name}]`, message }
    })
}

function whyUnserved(
  { spec, metadata }: RpcRouter,
  wanted: string,
  asked: readonly UpstreamPlan[],
  unread: readonly UpstreamPlan[],
): string {
  if (spec.providerSelector === undefined)
    return `nothing serves ${wanted}, since providerSelector is not set: it must match labels of UpstreamProviders, or be {} for all of them`
  const names = (upstreams: readonly UpstreamPlan[]) =>
    upstreams.map(({ provider }) => provider).join(', ')
  const main = asked.filter(isPrimary)
  if (main.length > 0)
    return `the UpstreamProviders that serve ${wanted} are not accepted: ${names(main)}`
  // What they serve is not known.
  if (asked.length === 0 && unread.length > 0)
    return `no UpstreamProvider that is accepted serves ${wanted}; these are selected and not accepted: ${names(unread)}`
  return asked.length > 0
    ? `the UpstreamProviders that serve ${wanted} are all of the tier backup, and one must be of the tier primary: ${names(asked)}`
    : `no UpstreamProvider of the namespace ${metadata.namespace} that providerSelector selects serves ${wanted}`
}

/** An endpoint that no provider could help: of a chain or an interface that the router does not have. */
function impossibleEndpoint(
  { name, chainId, apiInterface }: Endpoint,
  checkUses: ChainCheck,
): RouterRefusal | null {
  const field = `spec.endpoints[${name}]`
  const use = { path: '', chainId, apiInterface, addons: [], skippedVerifications: [] }
  const [problem] = checkUses([use])
  if (problem === undefined) return null
  const key = problem.path.endsWith('chain-id') ? 'chainId' : 'apiInterface'
  return { reason: 'UnknownChain', field: `${field}.${key}`, message: sentenceOf(problem) }
}

type Texts = Readonly<Record<string, string>>

/**
 * Keys, and values of selectors, that no object can have. The API server takes them in an RpcRouter, since keys of maps have
 * no bound that rules of a CustomResourceDefinition could go by, and refuses the objects that they end up in.
 */
function refusalsOfLabels(spec: RpcRouterSpec): readonly RouterRefusal[] {
  const { pod, service, networkPolicy, sharedState } = spec
  const spread = pod.topologySpreadConstraints ?? []
  return [
    ...ofSelector('spec.providerSelector', spec.providerSelector),
    ...ofLabels('spec.pod.labels', pod.labels),
    ...ofAnnotations('spec.pod.annotations', pod.annotations),
    ...ofLabels('spec.pod.nodeSelector', pod.nodeSelector),
    ...spread.flatMap(({ labelSelector }, index) =>
      ofSelector(`spec.pod.topologySpreadConstraints[${index}].labelSelector`, labelSelector),
    ),
    ...ofResources('spec.pod.resources', pod.resources),
    ...ofLabels('spec.service.labels', service.labels),
    ...ofAnnotations('spec.service.annotations', service.annotations),
    ...ofPeers('spec.networkPolicy.clients', networkPolicy.clients),
    ...ofPeers('spec.networkPolicy.monitoring', networkPolicy.monitoring),
    ...ofLabels('spec.monitoring.labels', spec.monitoring.labels),
    ...ofResources('spec.sharedState.managed.resources', sharedState.managed?.resources),
  ]
}

function ofPeers(
  field: string,
  peers: readonly NetworkPolicyPeer[] = [],
): readonly RouterRefusal[] {
  return peers.flatMap(({ namespaceSelector, podSelector }, index) => [
    ...ofSelector(`${field}[${index}].namespaceSelector`, namespaceSelector),
    ...ofSelector(`${field}[${index}].podSelector`, podSelector),
  ])
}

function ofSelector(field: string, selector: LabelSelector | undefined): readonly RouterRefusal[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  return refusals(
    field,
    'a label',
    [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)],
    [...Object.values(matchLabels), ...matchExpressions.flatMap(({ values = [] }) => values)],
  )
}

function ofLabels(field: string, labels: Texts = {}): readonly RouterRefusal[] {
  return refusals(field, 'a label', Object.keys(labels), Object.values(labels))
}

/** Of an annotation's key capitals do not matter. */
function ofAnnotations(field: string, annotations: Texts = {}): readonly RouterRefusal[] {
  const keys = Object.keys(annotations)
  const wrong = keys.filter((key) => !isQualifiedName(key.toLowerCase()))
  return refusals(field, 'an annotation', wrong, [])
}

function refusals(
  field: string,
  what: string,
  keys: readonly string[],
  values: readonly string[],
): readonly RouterRefusal[] {
  const wrong = [
    ...keys.filter((key) => !isQualifiedName(key)).map((key) => `the key ${shown(key)}`),
    ...values
      .filter((value) => !labelValue.test(value))
      .map((value) => `the value ${shown(value)}`),
  ]
  if (wrong.length === 0) return []
  const message = `${wrong.join(', ')} must be what ${what} can have: at most 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends; before a key, a domain and '/'`
  return [{ reason: 'InvalidSpec', field, message }]
}

function ofResources(field: string, resources: Resources | undefined): readonly RouterRefusal[] {
  const { requests = {}, limits = {} } = resources ?? {}
  const names = [...new Set([...Object.keys(requests), ...Object.keys(limits)])]
  const wrong = names.filter((name) => !isResource(name)).map(shown)
  if (wrong.length === 0) return []
  const message = `${wrong.join(', ')} must be cpu, memory, ephemeral-storage, hugepages- and a size, or a name with a domain and '/' before it`
  return [{ reason: 'InvalidSpec', field, message }]
}

function isResource(name: string): boolean {
  if (name.includes('/')) return isQualifiedName(name)
  return /^(?:cpu|memory|ephemeral-storage|hugepages-\w+)$/.test(name)
}

/** What is longer than any key can be is cut: it stands in a status. */
function shown(text: string): string {
  return JSON.stringify(text.length <= 400 ? text : `${text.slice(0, 400)}...`)
}
