// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { legOf, createWorkspace, type Workspace } from '../program/workspace.ts'
import { type Program, startProgram } from '../program/program.ts'
import { routerConfig } from '../processes/router-config.ts'
import { waitUntil } from '../processes/eventually.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'

const chain = createChainModel()
const poll = { interval: 50 }
const account = `0x${'aa'.repeat(20)}`
const old = [account, '0x10']

let workspace: Workspace
let nodes: SimNode[]
let program: Program
beforeAll(async () => {
  workspace = await createWorkspace()
  nodes = await Promise.all(['a', 'b', 'c'].map((name) => startSimNode({ chain, name })))
  const groups = ['vendor', 'vendor', 'own']
  const config = routerConfig([legOf('ETH1', nodes)])
  program = await startProgram(workspace, {
    ...config,
    'direct-rpc': config['direct-rpc'].map((node, at) => ({ ...node, 'group-label': groups[at] })),
    'skip-websocket-verification': true,
    'log-format': 'json',
    'cache-bytes': '16MiB',
    'cross-validation': {
      policies: [
        {
          'chain-id': 'ETH1',
          'api-interface': 'jsonrpc',
          method: 'eth_getBalance',
          'agreement-threshold': 2,
          'max-participants': { floor: 3 },
        },
        {
          'chain-id': 'ETH1',
          'api-interface': 'jsonrpc',
          method: 'eth_getCode',
          'agreement-threshold': 2,
          'min-groups': 2,
        },
        {
          'chain-id': 'ETH1',
          'api-interface': 'jsonrpc',
          method: 'eth_call',
          'forbid-caller-cv': true,
        },
      ],
    },
  })
  await waitUntil('all upstreams are up', 60_000, undefined, async () =>
    (await (await fetch(`${program.adminUrl}/readyz`)).text()).includes('3 of 3'),
  )
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  await workspace[Symbol.asyncDispose]()
})
afterEach(() => {
  for (const { faults } of nodes) faults.clear()
})

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly data: { readonly reason: string } }
}

async function ask(
  method: string,
  params: readonly unknown[],
  directives: Record<string, string> = {},
) {
  const response = await fetch(program.urls[0] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...directives },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  })
  const { result, error } = (await response.json()) as Answer
  const validation = (name: string) =>
    response.headers.get(`rpc-cross-validation-${name}`)?.split(',').toSorted().join() ?? null
  return {
    status: response.status,
    result,
    reason: error?.data.reason,
    said: validation('status'),
    agreeing: validation('agreeing-providers'),
    disagreeing: validation('disagreeing-providers'),
    all: validation('all-providers'),
    failure: validation('failure-reason'),
    latest: response.headers.get('provider-latest-block'),
    upstream: response.headers.get('rpc-provider-address'),
    cache: response.headers.get('rpc-cache'),
  }
}

/** Makes node `at` return a wrong state, before the other nodes answer. */
function forgeAt(at: number, result: string, delayMs = 0): void {
  const forge = (call: { id: unknown }) => JSON.stringify({ jsonrpc: '2.0', id: call.id, result })
  // With another chain id, it would be out of service.
  const methods = ['eth_getBalance', 'eth_getCode', 'eth_getTransactionCount', 'eth_call']
  nodes[at]?.faults.add({ kind: 'forged', forge }, { methods })
  for (const node of nodes.filter((_, each) => each !== at))
    node.faults.add({ kind: 'slow', delayMs })
}

const asks = (participants: number, agreement: number) => ({
  'rpc-cross-validation-max-participants': String(participants),
  'rpc-cross-validation-agreement-threshold': String(agreement),
})

test('of three nodes the two that agree win, whichever node is wrong', async () => {
  const honest = await ask('eth_getBalance', old)
  expect(honest).toMatchObject({ status: 200, said: 'success', disagreeing: null, all: 'a,b,c' })
  for (const [at, liar] of ['a', 'b', 'c'].entries()) {
    forgeAt(at, '0xbad', 100)
    const others = ['a', 'b', 'c'].filter((name) => name !== liar).join()
    expect(await ask('eth_getBalance', old)).toMatchObject({
      ...{ status: 200, result: honest.result, said: 'success' },
      ...{ agreeing: others, disagreeing: liar, all: 'a,b,c' },
    })
    for (const { faults } of nodes) faults.clear()
  }
  const page = await (await fetch(`${program.adminUrl}/metrics`)).text()
  expect(page).toMatch(
    /router_cross_validations_total\{[^}]*method="eth_getBalance"[^}]*validation="success"[^}]*\} 4/,
  )
})

test('a mismatch about a finalized block is counted, and logged with both answers', async () => {
  forgeAt(1, '0xbad', 100)
  await ask('eth_getBlockByNumber', ['0x10', false], asks(3, 2))
  await ask('eth_getBalance', old)
  await program.logged('upstreams differ about a finalized block')
  const line = program.stdout.split('\n').find((each) => each.includes('upstreams differ')) ?? '{}'
  expect(JSON.parse(line)).toMatchObject({ upstream: expect.any(String), excerpt: '"0xbad"' })
  const page = await (await fetch(`${program.adminUrl}/metrics`)).text()
  expect(page).toMatch(/router_cross_validation_finalized_mismatches_total\{[^}]*upstream="b"/)
})

test('all nodes answer for the same latest block, even if one node is a block behind', async () => {
  const [first] = nodes as [SimNode]
  Object.assign(first.view, { lagBlocks: 1 })
  await expect
    .poll(async () => (await ask('eth_getBalance', [account, 'latest'])).said, poll)
    .toBe('success')
  Object.assign(first.view, { lagBlocks: 0 })
})

test.each<[string, Record<string, string>, object]>([
  ['without a policy', asks(3, 3), { status: 200, said: 'success', agreeing: 'a,b,c' }],
  [
    'with more agreement than upstreams',
    asks(9, 4),
    { status: 400, failure: 'insufficient-capacity' },
  ],
  [
    'without the upstreams for it',
    { ...asks(2, 2), 'rpc-providers-block': 'a,b' },
    { status: 400, reason: 'insufficient-capacity' },
  ],
  [
    'with one header',
    { 'rpc-cross-validation-max-participants': '3' },
    { status: 400, reason: 'bad-directive', said: null },
  ],
  ['with more agreement than participants', asks(2, 3), { status: 400, reason: 'bad-directive' }],
  [
    'with no number',
    { ...asks(3, 2), 'rpc-cross-validation-max-participants': 'all' },
    { status: 400, reason: 'bad-directive' },
  ],
])('a caller asks %s', async (_, directives, expected) => {
  expect(await ask('eth_getTransactionCount', old, directives)).toMatchObject(expected)
})

test.each<[string, () => void, object]>([
  [
    'all differ',
    () => {
      forgeAt(0, '0xbad1')
      forgeAt(1, '0xbad2')
    },
    {
      status: 502,
      reason: 'no-agreement',
      said: 'failed',
      failure: 'no-agreement',
      disagreeing: 'a,b,c',
    },
  ],
  [
    'two do not answer',
    () => {
      for (const node of nodes.slice(1))
        node.faults.add({ kind: 'status', status: 500, body: 'empty' })
    },
    { status: 502, reason: 'insufficient-responses', failure: 'insufficient-responses' },
  ],
])('fails when %s', async (_, spoil, expected) => {
  spoil()
  expect(await ask('eth_getBalance', old)).toMatchObject(expected)
})

test('validation fails when the nodes of the other vendor disagree', async () => {
  forgeAt(2, '0xbad')
  const seen = await ask('eth_getCode', old, asks(3, 2))
  expect(seen).toMatchObject({
    status: 502,
    reason: 'diversity-unmet',
    agreeing: 'a,b',
    disagreeing: 'c',
  })
})

test('writes, and methods that callers may not cross-validate, are refused', async () => {
  const transaction = '0x02f86b01'
  const seen = await ask('eth_sendRawTransaction', [transaction], asks(3, 2))
  expect(seen).toMatchObject({ status: 400, reason: 'bad-directive' })
  const call = await ask('eth_call', [{ to: account }, '0x10'], asks(3, 2))
  expect(call).toMatchObject({ status: 400, reason: 'bad-directive' })
  expect(nodes.map((node) => node.calls.count('eth_sendRawTransaction'))).toEqual([0, 0, 0])
})

test('each item of a batch is validated', async () => {
  forgeAt(0, '0xbad', 50)
  const item = (id: number, method: string) => ({ jsonrpc: '2.0', id, method, params: old })
  const response = await fetch(program.urls[0] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([item(1, 'eth_getBalance'), item(2, 'eth_getBalance')]),
  })
  const answers = (await response.json()) as (Answer & { id: number })[]
  expect(answers.map(({ id, result }) => [id, result === '0xbad'])).toEqual([
    [1, false],
    [2, false],
  ])
  expect(response.headers.get('rpc-cross-validation-disagreeing-providers')).toBe('a')
})

test('cross-validation overrides a session, whose other calls stay on one node', async () => {
  const session = { 'rpc-stickiness': 'both' }
  expect(await ask('eth_getBalance', old, session)).toMatchObject({
    all: 'a,b,c',
    disagreeing: null,
  })
  const request = await ask('eth_getTransactionCount', old, { ...session, ...asks(3, 3) })
  expect(request).toMatchObject({ status: 200, agreeing: 'a,b,c' })
  const seen = new Set<string | null>()
  for (let each = 0; each < 6; each += 1)
    seen.add((await ask('eth_getTransactionCount', old, session)).upstream)
  expect(seen.size).toBe(1)
})

test('cross-validation, sessions and a minimum block for `latest` bypass the cache', async () => {
  const debug = { 'rpc-debug-relay': 'true' }
  const counted = async (method: string, directives: Record<string, string>, block = '0x11') =>
    (await ask(method, [account, block], { ...debug, ...directives })).cache
  const seen = {
    plain: [
      await counted('eth_getTransactionCount', {}),
      await counted('eth_getTransactionCount', {}),
    ],
    policy: [await counted('eth_getBalance', {}), await counted('eth_getBalance', {})],
    headers: await counted('eth_getTransactionCount', asks(2, 2)),
    session: await counted('eth_getTransactionCount', { 'rpc-stickiness': 'mine' }),
    minBlock: await counted('eth_getTransactionCount', { 'rpc-min-block': '1' }, 'latest'),
    aboutAnOldOne: await counted('eth_getTransactionCount', { 'rpc-min-block': '1' }),
  }
  expect(seen).toEqual({
    plain: ['miss', 'hit'],
    policy: ['bypass; why=cross-validation', 'bypass; why=cross-validation'],
    headers: 'bypass; why=cross-validation',
    session: 'bypass; why=session',
    minBlock: 'bypass; why=min-block',
    aboutAnOldOne: 'hit',
  })
})

test('rpc-min-block selects a node that has the block, and an invalid value is refused', async () => {
  const { latest } = await ask('eth_getTransactionCount', [account, 'latest'])
  const head = Number(latest)
  expect(head).toBeGreaterThan(0)
  const good = await ask('eth_getTransactionCount', [account, 'latest'], {
    'rpc-min-block': String(head),
  })
  expect(good.status).toBe(200)
  const bad = await ask('eth_getTransactionCount', [account, 'latest'], { 'rpc-min-block': 'soon' })
  expect(bad).toMatchObject({ status: 400, reason: 'bad-directive' })
})
