// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { namespaceRules } from './rules.ts'

test('no rule has a wildcard', () => {
  for (const { group, resource, verbs } of namespaceRules)
    expect([group, resource, ...verbs].join(' ')).not.toContain('*')
})
