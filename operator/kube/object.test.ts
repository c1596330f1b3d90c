// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ApiError, isExpired } from './errors.ts'
import {
  isOlder,
  objectKey,
  refOf,
  collectionPathOf,
  objectPathOf,
  type Resource,
} from './object.ts'

const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
}
const nodes: Resource = {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  namespaced: false,
}

test('refOf parses the key that objectKey returns', () => {
  for (const ref of [{ namespace: 'ns', name: 'a' }, { name: 'a' }])
    expect(refOf(objectKey(ref))).toEqual(ref)
})

test.each([
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['99999999999999999998', '99999999999999999999', true],
  ['abc', '10', false],
  ['9', undefined, false],
])('version %s is older than %s: %s', (a, b, expected) => {
  expect(isOlder(a, b)).toBe(expected)
})

test('paths', () => {
  const ref = { namespace: 'ns', name: 'a' }
  expect(objectPathOf(deployments, ref, 'status')).toBe(
    '/apis/apps/v1/namespaces/ns/deployments/a/status',
  )
  expect(collectionPathOf(deployments)).toBe('/apis/apps/v1/deployments')
  expect(objectPathOf(nodes, { name: 'Upper:Case' })).toBe('/api/v1/nodes/Upper%3ACase')
})

test('an object reference without its namespace or its name is refused', () => {
  expect(() => objectPathOf(deployments, { name: 'a' })).toThrow('needs one')
  expect(() => objectPathOf(deployments, { namespace: 'ns', name: '' })).toThrow('empty name')
})

test('an error about a Secret does not contain its data', () => {
  const body = {
    reason: 'Invalid',
    message: 'data: Invalid value: "hunter2"',
    details: { causes: [{ field: 'data', message: 'Invalid value: "hunter2"' }] },
  }
  const error = new ApiError('PATCH /api/v1/namespaces/ns/secrets/s', 422, body)
  expect(error.message).toBe('PATCH /api/v1/namespaces/ns/secrets/s: Invalid')
  expect(JSON.stringify([error, error.causes, error.message, error.stack])).not.toContain('hunter2')
})

test('an error about a Secret names a missing right', () => {
  const message =
    'secrets "s" is forbidden: User "operator" cannot patch resource "secrets" in API group ""'
  const error = new ApiError('PATCH /api/v1/namespaces/ns/secrets/s', 403, {
    ...{ reason: 'Forbidden', message },
  })
  expect(error.message).toContain(message)
})

test('a version that is too new counts as expired, like one that is too old', () => {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 }
  const error = new ApiError('GET', 504, { reason: 'Timeout', details })
  expect([isExpired(error), error.retryAfterMs]).toEqual([true, 1_000])
  expect(isExpired(new ApiError('GET', 504, { reason: 'Timeout' }))).toBe(false)
})
