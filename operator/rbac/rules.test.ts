// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { namespaceRules, rbacManifests } from './rules.ts'

test('no rule has a wildcard', () => {
  for (const { group, resource, verbs } of namespaceRules)
    expect([group, resource, ...verbs].join(' ')).not.toContain('*')
})

test('without a managed Redis and monitors, nothing writes Secrets, StatefulSets or monitors', () => {
  const account = { namespace: 'a', name: 'b' }
  const options = { namespaces: null, serviceAccount: account, lease: account }
  const rulesOf = (more: object) => JSON.stringify(rbacManifests({ ...options, ...more })[0])
  const least = rulesOf({ managedRedis: false, monitors: false })
  const reads = '"verbs":["get","list","watch"]'
  expect(least).toContain(`"resources":["secrets"],${reads}`)
  expect(least).toContain(`"resources":["statefulsets"],${reads}`)
  expect(least).not.toContain('monitoring.coreos.com')
  expect(rulesOf({})).toContain('monitoring.coreos.com')
})
