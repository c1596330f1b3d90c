// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import type { Pod } from './pod.ts'

/*
 * Affinity as Kubernetes 1.35 knows it. Here alone, and not in the operator: a later API server may know more.
 */

const texts = z.array(z.string()).nullish()
const labelOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const

function requirements(operators: readonly string[]) {
  const requirement = z.strictObject({
    key: z.string().min(1),
    operator: z.enum(operators),
    values: texts,
  })
  return z.array(requirement).nullish()
}

const labelSelector = z
  .strictObject({
    matchLabels: z.record(z.string(), z.string()).nullish(),
    matchExpressions: requirements(labelOperators),
  })
  .nullish()

const nodeTerm = z.strictObject({
  matchExpressions: requirements([...labelOperators, 'Gt', 'Lt']),
  matchFields: requirements([...labelOperators, 'Gt', 'Lt']),
})

const podTerm = z.strictObject({
  topologyKey: z.string().min(1),
  labelSelector,
  namespaceSelector: labelSelector,
  namespaces: texts,
  matchLabelKeys: texts,
  mismatchLabelKeys: texts,
})

const weight = z.int().min(1).max(100)

const nodeAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z
    .strictObject({ nodeSelectorTerms: z.array(nodeTerm).min(1) })
    .nullish(),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.strictObject({ weight, preference: nodeTerm }))
    .nullish(),
})

const podAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z.array(podTerm).nullish(),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.strictObject({ weight, podAffinityTerm: podTerm }))
    .nullish(),
})

const affinitySchema = z.strictObject({
  nodeAffinity: nodeAffinity.nullish(),
  podAffinity: podAffinity.nullish(),
  podAntiAffinity: podAffinity.nullish(),
})

/** What the API server would refuse a Deployment for, each in a line that begins with the field of the RpcRouter. */
export function affinityFaults(affinity: Pod['affinity']): readonly string[] {
  const { error } = affinitySchema.safeParse(affinity ?? {})
  return (error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.reduce<string>(
      (before, key) => (typeof key === 'number' ? `${before}[${key}]` : `${before}.${String(key)}`),
      'spec.pod.affinity',
    )
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${path}: unknown field ${JSON.stringify(key)}`)
      : [`${path}: ${issue.message}`]
  })
}
