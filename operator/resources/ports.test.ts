// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { type PodPorts, portAnnotations, portsIn } from './ports.ts'

test.each<[PodPorts]>([
  [{ listen: [3360, 3361], egress: [443, 6379] }],
  [{ listen: [3360], egress: 'any' }],
  [{ listen: [3360], egress: [] }],
])('annotations are parsed again: %j', (ports) => {
  expect(portsIn(portAnnotations(ports))).toEqual(ports)
})

test('pods without annotations may need any port', () => {
  expect(portsIn()).toEqual({ listen: [], egress: 'any' })
})

test('an invalid port is ignored', () => {
  const [listen, egress] = ['rpcrouter.dev/listen-ports', 'rpcrouter.dev/egress-ports']
  const annotations = { [listen]: '22,abc,0,-1', [egress]: '65536,1.5,,8545' }
  expect(portsIn(annotations)).toEqual({ listen: [22], egress: [8545] })
})
