// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { isUnbuilt } from '../../proxy/config/capabilities.ts'
import { namespaceRules } from './rules.ts'

test('nothing may be more than read for the sake of a managed Redis before the router can use one', () => {
  const canShare = !isUnbuilt('shared-state')
  for (const resource of ['secrets', 'statefulsets']) {
    const verbs = namespaceRules.find((rule) => rule.resource === resource)?.verbs
    expect(verbs?.includes('patch'), resource).toBe(canShare)
  }
})

test('nothing is allowed as a whole', () => {
  for (const { group, resource, verbs } of namespaceRules)
    expect([group, resource, ...verbs].join(' ')).not.toContain('*')
})
