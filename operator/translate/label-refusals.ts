// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isQualifiedName, labelValue } from '../api/label-forms.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import type { NetworkPolicyPeer } from '../api/network-policy.ts'
import type { Resources } from '../api/pod-resources.ts'
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { RouterRefusal } from './violation.ts'

type Texts = Readonly<Record<string, string>>

/**
 * Keys, and values of selectors, that no object can have. The API server takes them in an RpcRouter, since keys of maps have
 * no bound that rules of a CustomResourceDefinition could go by, and refuses the objects that they end up in.
 */
export function refusalsOfLabels(spec: RpcRouterSpec): readonly RouterRefusal[] {
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
