// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { KubeObject, ManagedFields } from '../kube/object.ts'
import { fieldManager, hasForeignFields, takenOver, withForeignFields } from './foreign-fields.ts'

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

describe('other managers may own', () => {
  test.each([
    ['annotations and labels', entry('kubectl', { 'f:metadata': { 'f:annotations': {} } })],
    ['the status', entry('kcm', { 'f:status': { 'f:replicas': {} } }, { subresource: 'status' })],
    ['a restart annotation', entry('kubectl-rollout', { 'f:spec': restart })],
    ['the address of a load balancer', entry('cloud', { 'f:spec': { 'f:loadBalancerIP': {} } })],
    ['fields of another version', entry('old', { 'f:spec': {} }, { apiVersion: 'apps/v2' })],
    ['additions of a webhook', entry(fieldManager, { 'f:spec': { 'f:x': {} } })],
  ])('%s', (_, theirs) => {
    const object = deployment(ours, theirs)
    expect(hasForeignFields(object)).toBe(false)
    expect(withForeignFields(object).metadata).not.toHaveProperty('managedFields')
    expect(takenOver(object)).toEqual([ours, theirs])
  })
})

test('a replica count of another manager is not a foreign field', () => {
  const counts = { 'f:spec': { 'f:replicas': {} } }
  const scaled = entry('kcm', counts, { subresource: 'scale' })
  const ourCounts = ['rpc-router-operator', 'rpc-router-operator-handover'].map((manager) =>
    entry(manager, counts, { operation: 'Apply' }),
  )
  const withCount = (replicas: number | undefined) => ({
    ...deployment(...ourCounts, scaled),
    spec: { replicas },
  })
  expect(hasForeignFields(withCount(4))).toBe(false)
  expect(withForeignFields(withCount(4)).metadata.managedFields).toEqual([scaled])
  expect(takenOver(withCount(4))).toEqual([...ourCounts, scaled])
})

test('the operator takes over foreign fields in the spec', () => {
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
  expect(hasForeignFields(object)).toBe(true)
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

test('a missing entry of the operator in managedFields is restored', () => {
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
