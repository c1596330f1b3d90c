// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { parseCommandLine, leaseOf } from './command-line.ts'

const leaseFor = (...flags: readonly string[]) =>
  leaseOf(parseCommandLine(['run', ...flags]).values, 'usual')

test.each<[string, string[], string]>([
  ['the whole cluster', [], 'usual/rpc-router-operator'],
  ['one namespace', ['--namespaces', 'rpc'], 'usual/rpc-router-operator.rpc'],
  ['two namespaces in any order', ['--namespaces', 'b,a'], 'usual/rpc-router-operator.a.b'],
  ['another name', ['--namespaces', 'a', '--lease-name', 'mine'], 'usual/mine'],
  ['another namespace', ['--lease-namespace', 'here'], 'here/rpc-router-operator'],
])('the lease for %s', (_, flags, lease) => {
  const { namespace, name } = leaseFor(...flags)
  expect(`${namespace}/${name}`).toBe(lease)
})

test('the lease for many namespaces has a valid name that depends on them', () => {
  const many = Array.from({ length: 40 }, (_, index) => `namespace-${index}`)
  const { name } = leaseFor('--namespaces', many.join(','))
  expect(name).toMatch(/^rpc-router-operator\.[0-9a-f]{16}$/)
  expect(leaseFor('--namespaces', many.slice(1).join(',')).name).not.toBe(name)
  expect(leaseFor('--namespaces', many.toReversed().join(',')).name).toBe(name)
})
