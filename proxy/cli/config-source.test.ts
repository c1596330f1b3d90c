// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { main } from './main.ts'

/** What a node answers, by method or by path. */
type Answers = Readonly<Record<string, unknown>>

const genesis = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'
const nodes = {
  base: { eth_chainId: '0x2105' },
  other: { eth_chainId: '0x67932' },
  solana: { getGenesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' },
  bitcoin: { getblockhash: genesis },
  cosmosRest: {
    '/cosmos/base/tendermint/v1beta1/node_info': { default_node_info: { network: 'cosmoshub-4' } },
  },
  cosmosRpc: { status: { node_info: { network: 'osmosis-1' } } },
  unknown: {},
} satisfies Record<string, Answers>
type NodeName = keyof typeof nodes

async function answerOf(answers: Answers, request: IncomingMessage): Promise<unknown> {
  const path = request.url ?? ''
  const body = await text(request)
  if (!body.startsWith('{')) return answers[path]
  const { id, method } = JSON.parse(body) as { readonly id: unknown; readonly method: string }
  const result = answers[method]
  const error = { code: -32601, message: `the method ${method} does not exist` }
  return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }
}

const servers = new Map<NodeName, Server>()
beforeAll(async () => {
  for (const [name, answers] of Object.entries(nodes) as [NodeName, Answers][]) {
    const server = createServer((request, response) => {
      void answerOf(answers, request).then((found) => {
        response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(found ?? {}))
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    servers.set(name, server)
  }
})
afterAll(() => {
  for (const server of servers.values()) server.close().closeAllConnections()
})
const urlOf = (name: NodeName) => {
  const { port } = servers.get(name)!.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

async function router(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const written = { stdout: '', stderr: '' }
  const code = await main(args, {
    stdout: { write: (each: string) => (written.stdout += each) },
    stderr: { write: (each: string) => (written.stderr += each) },
    environment,
  })
  return { code, ...written }
}

describe('without --chain, the router asks the node for its chain', () => {
  test.each<[node: NodeName, chain: string, apiInterface: string, subscribes: boolean]>([
    ['base', 'BASE', 'jsonrpc', true],
    ['other', 'EVM-424242', 'jsonrpc', true],
    ['solana', 'SLOTCHAIN', 'jsonrpc', true],
    ['bitcoin', 'BTC', 'jsonrpc', false],
    ['cosmosRest', 'HUBCHAIN', 'rest', false],
    ['cosmosRpc', 'OSMOSIS', 'tendermintrpc', true],
  ])('%s is %s through %s', async (node, chain, apiInterface, subscribes) => {
    const url = urlOf(node)
    const { code, stdout, stderr } = await router(['config', '--url', url])
    const isOff = stderr.includes('router: warning: --url: subscriptions to ')
    expect([code, isOff || stderr]).toEqual([0, subscribes || ''])
    const served = { 'chain-id': chain, 'api-interface': apiInterface }
    expect(parse(stdout)).toEqual({
      'direct-rpc': [{ name: 'node-1', ...served, 'node-urls': [{ url }] }],
      endpoints: [{ 'network-address': '127.0.0.1:3360', ...served }],
      'skip-websocket-verification': true,
    })
  })

  test('a node that reports no known chain', async () => {
    const url = urlOf('unknown')
    const { code, stdout, stderr } = await router(['config', '--url', url])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      `router: error: --chain: the chain is missing, and ${url} does not report one that is known. Name it, such as --chain ETH1; then router doctor says what is wrong with the URL.\n`,
    )
  })
})

test('the long form masks keys, and can include every default', async () => {
  const url = 'https://eth.example.com/v2/a-key-of-mine-123'
  const args = ['config', '--chain', 'eth', '--url', url, '--log-level', 'debug']
  const { stdout } = await router(args)
  expect(stdout).not.toContain('a-key-of-mine')
  expect(parse(stdout)).toMatchObject({ 'log-level': 'debug' })
  expect(parse(stdout)).not.toHaveProperty('strategy')
  const full = parse((await router([...args, '--full'])).stdout) as object
  expect(full).toMatchObject({ strategy: 'balanced', 'metrics-listen-address': 'auto' })
})

test('a placeholder in --url takes its value from the environment, and is printed as written', async () => {
  const args = ['config', '--chain', 'eth', '--url', 'https://eth.example.com/${KEY}']
  const { code, stdout } = await router(args, { KEY: 'a-key-of-mine-123' })
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('url: https://eth.example.com/${KEY}\n'),
  ])
  expect((await router(args)).stderr).toBe(
    'router: error: --url: the variable KEY is not set. Set it in the environment or in an env file (--env-file).\n',
  )
})

test('completion has a script for each shell, and asks the program', async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await router(['completion', shell])).stdout).toContain('completion -- ')
  expect((await router(['completion', '--', 'doc'])).stdout).toBe('doctor\n')
  const chains = await router(['completion', '--', 'doctor', '--chain', 'linea'])
  expect(chains.stdout).toBe('linea\n')
})
