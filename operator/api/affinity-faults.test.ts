// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { affinityFaults } from './affinity-faults.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

test('what pods can have is taken', () => {
  const labelSelector = {
    matchLabels: { app: 'a' },
    matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }],
  }
  const podTerm = {
    topologyKey: 'zone',
    labelSelector,
    namespaceSelector: {},
    namespaces: ['a'],
    matchLabelKeys: ['pod-template-hash'],
    mismatchLabelKeys: ['b'],
  }
  const pods = {
    [required]: [podTerm],
    [preferred]: [{ weight: 100, podAffinityTerm: { topologyKey: 'zone', labelSelector: null } }],
  }
  const node = {
    matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['4'] }],
    matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }],
  }
  const nodeAffinity = {
    [required]: { nodeSelectorTerms: [node] },
    [preferred]: [{ weight: 1, preference: node }],
  }
  expect(affinityFaults({ nodeAffinity, podAffinity: pods, podAntiAffinity: pods })).toEqual([])
  expect(affinityFaults({ podAffinity: {} })).toEqual([])
  expect(affinityFaults(undefined)).toEqual([])
})

test.each<[string, Parameters<typeof affinityFaults>[0], readonly unknown[]]>([
  [
    'an unknown field',
    { nodeAffinity: { bogus: 1 } },
    ['spec.pod.affinity.nodeAffinity: unknown field "bogus"'],
  ],
  [
    'an unknown field deep inside',
    { podAntiAffinity: { [required]: [{ topologyKey: 'zone', labelSelektor: {} }] } },
    [`spec.pod.affinity.podAntiAffinity.${required}[0]: unknown field "labelSelektor"`],
  ],
  [
    'no term',
    { nodeAffinity: { [required]: { nodeSelectorTerms: [] } } },
    [
      expect.stringContaining(
        `spec.pod.affinity.nodeAffinity.${required}.nodeSelectorTerms: Too small`,
      ),
    ],
  ],
  [
    'no topology key',
    { podAffinity: { [required]: [{}] } },
    [expect.stringContaining(`spec.pod.affinity.podAffinity.${required}[0].topologyKey: `)],
  ],
  [
    'a weight that is none',
    { nodeAffinity: { [preferred]: [{ weight: 101, preference: {} }] } },
    [expect.stringContaining(`spec.pod.affinity.nodeAffinity.${preferred}[0].weight: Too big`)],
  ],
])('%s is told', (_, affinity, faults) => {
  expect(affinityFaults(affinity)).toEqual(faults)
})
