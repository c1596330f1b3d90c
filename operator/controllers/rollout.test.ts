// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import {
  configMaps,
  networkPolicies,
  replicaSets,
  rpcRouters,
  upstreamProviders,
} from '../resources/kinds.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

test('a router gets its objects, and is Ready when its pods are', async () => {
  await using desk = new OperatorDesk()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  expect(desk.failures).toEqual([])
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({ Ready: expect.stringMatching(/^True/) })
  expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
    Ready: expect.stringMatching(/^True/),
  })
})

describe('what old pods need stays', () => {
  const tcp = (rules: readonly { ports?: readonly { port?: unknown; protocol?: string }[] }[]) =>
    rules.flatMap(({ ports = [] }) =>
      ports.map(({ port, protocol }) => `${protocol} ${String(port)}`),
    )

  async function rollingDesk() {
    const desk = new OperatorDesk()
    desk.provider('a', 'http://old.example:8545')
    desk.router('r', { pod: { rollout: { revisionHistoryLimit: 1 } } })
    await desk.pass()
    desk.rollOut('r')
    await desk.pass()
    return desk
  }

  test('their ports, until their config is gone', async () => {
    await using desk = await rollingDesk()
    const policy = () => desk.get(networkPolicies, 'r-router').spec
    expect(tcp(policy().egress)).toContain('TCP 8545')
    const [old = ''] = desk.names(replicaSets)
    desk.provider('a', 'http://new.example:9545')
    desk.router('r', {
      endpoints: [{ name: 'eth1', port: 3361, chainId: 'ETH1', apiInterface: 'jsonrpc' }],
      pod: { rollout: { revisionHistoryLimit: 1 } },
    })
    await desk.pass()
    expect(tcp(policy().egress)).toEqual(['UDP 53', 'TCP 53', 'TCP 8545', 'TCP 9545'])
    expect(tcp(policy().ingress)).toEqual(['TCP 3361', 'TCP 3360', 'TCP 7779'])
    // It can be undone as long as the ReplicaSet is there.
    desk.rollOut('r')
    await desk.pass()
    expect(tcp(policy().egress)).toContain('TCP 8545')
    desk.remove(replicaSets, old)
    await desk.pass()
    expect(tcp(policy().egress)).toEqual(['UDP 53', 'TCP 53', 'TCP 9545'])
    expect(tcp(policy().ingress)).toEqual(['TCP 3361', 'TCP 7779'])
    expect(desk.names(configMaps)).toHaveLength(1)
  })

  test('their config, though nothing is heard of ReplicaSets', async () => {
    await using desk = new OperatorDesk()
    desk.keeper.deaf.add('replicasets')
    desk.provider('a', 'https://first.example')
    desk.router('r')
    await desk.pass()
    for (const url of ['https://second.example', 'https://third.example']) {
      desk.rollOut('r')
      desk.provider('a', url)
      await desk.pass()
    }
    expect(desk.names(configMaps)).toHaveLength(3)
    const [oldest = ''] = desk.names(replicaSets)
    desk.rollOut('r')
    desk.remove(replicaSets, oldest)
    await desk.pass()
    expect(desk.names(configMaps)).toHaveLength(2)
  })

  test('ReplicaSets are listed when a config is to go, and not else', async () => {
    await using desk = await rollingDesk()
    const lists = () =>
      desk.keeper.asked.filter(({ verb, plural }) => verb === 'list' && plural === 'replicasets')
    const before = lists().length
    for (let port = 1; port < 4; port++) {
      desk.provider('a', `http://old.example:${port}`)
      await desk.pass()
      desk.rollOut('r')
      await desk.pass()
    }
    expect(lists()).toHaveLength(before)
    desk.remove(replicaSets, desk.names(replicaSets)[0] ?? '')
    await desk.pass()
    expect(lists()).toHaveLength(before + 1)
  })
})
