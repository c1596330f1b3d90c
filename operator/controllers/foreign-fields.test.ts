// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { KubeObject, ManagedFields } from '../kube/object.ts'
import { fieldManager, foreignManagers, takenOver, withForeignFields } from './foreign-fields.ts'

const env = (name: string) => ({ [`k:{"name":"${name}"}`]: { '.': {}, 'f:value': {} } })
const container = (fields: object) => ({
  'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"router"}': fields } } },
})

function entry(
  manager: string,
  fieldsV1: object,
  more: Partial<ManagedFields> = {},
): ManagedFields {
  const usual = { operation: 'Update' as const, apiVersion: 'apps/v1' }
  return { manager, ...usual, ...more, fieldsV1: fieldsV1 as Record<string, unknown> }
}

const ours = entry(
  fieldManager,
  { 'f:metadata': { 'f:labels': {} }, 'f:spec': container({ 'f:image': {}, 'f:env': env('A') }) },
  { operation: 'Apply' },
)

function deployment(...managedFields: readonly ManagedFields[]): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'r', managedFields } }
}

const restart = {
  'f:template': {
    'f:metadata': { 'f:annotations': { 'f:kubectl.kubernetes.io/restartedAt': {} } },
  },
}

describe('fields of others that they may have', () => {
  test.each([
    ['annotations and labels', entry('kubectl', { 'f:metadata': { 'f:annotations': {} } })],
    ['the status', entry('kcm', { 'f:status': { 'f:replicas': {} } }, { subresource: 'status' })],
    ['the mark of a restart', entry('kubectl-rollout', { 'f:spec': restart })],
    ['the address of a load balancer', entry('cloud', { 'f:spec': { 'f:loadBalancerIP': {} } })],
    ['of another version of the kind', entry('old', { 'f:spec': {} }, { apiVersion: 'apps/v2' })],
    ['what a webhook added to our own write', entry(fieldManager, { 'f:spec': { 'f:x': {} } })],
  ])('%s', (_, theirs) => {
    const object = deployment(ours, theirs)
    expect(foreignManagers(object)).toEqual([])
    expect(withForeignFields(object).metadata).not.toHaveProperty('managedFields')
    expect(takenOver(object)).toEqual([ours, theirs])
  })
})

test('the count of another is no foreign field', () => {
  const counts = { 'f:spec': { 'f:replicas': {} } }
  const scaled = entry('kcm', counts, { subresource: 'scale' })
  const ourCounts = ['rpc-router-operator', 'rpc-router-operator-handover'].map((manager) =>
    entry(manager, counts, { operation: 'Apply' }),
  )
  const withCount = (replicas: number | undefined) => ({
    ...deployment(...ourCounts, scaled),
    spec: { replicas },
  })
  expect(foreignManagers(withCount(4))).toEqual([])
  expect(withForeignFields(withCount(4)).metadata.managedFields).toEqual([scaled])
  expect(takenOver(withCount(4))).toEqual([...ourCounts, scaled])
})

test('fields of others in the spec become ours', () => {
  const undone = entry('kubectl', {
    'f:metadata': { 'f:annotations': { 'f:note': {} } },
    'f:spec': { ...container({ 'f:env': { ...env('A'), ...env('B') } }), 'f:paused': {} },
  })
  const restarted = entry('k9s', {
    'f:spec': {
      'f:replicas': {},
      'f:template': { ...restart['f:template'], 'f:spec': { 'f:x': {} } },
    },
  })
  const edited = entry('editor', { 'f:spec': container({ 'f:env': env('C') }) })
  const object = deployment(undone, ours, restarted, edited)
  expect(foreignManagers(object)).toEqual(['editor', 'k9s', 'kubectl'])
  expect(withForeignFields(object).metadata.managedFields).toEqual([undone, restarted, edited])
  expect(takenOver(object)).toEqual([
    {
      ...ours,
      fieldsV1: {
        'f:metadata': { 'f:labels': {} },
        'f:spec': {
          'f:paused': {},
          'f:template': {
            'f:spec': {
              'f:x': {},
              'f:containers': {
                'k:{"name":"router"}': {
                  'f:image': {},
                  'f:env': { ...env('A'), ...env('B'), ...env('C') },
                },
              },
            },
          },
        },
      },
    },
  ])
})

test('where the record of what is ours was wiped, there is one again', () => {
  const wiped = entry('before-first-apply', { 'f:spec': { 'f:selector': {} } })
  expect(takenOver(deployment(wiped))).toEqual([
    {
      manager: fieldManager,
      operation: 'Apply',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:selector': {} } },
    },
  ])
})
