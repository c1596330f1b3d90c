// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { imageOf, nodePod, podOf, serve, startNode, usePlace } from './cluster.ts'
import { settled } from './load.ts'

/*
 * The sample with all eight listeners, in front of a real node for Ethereum and simulated ones for the other chains.
 */

const place = usePlace('multi-chain')
const { namespace, run, apply } = place
const sample = join(import.meta.dirname, '../../samples/multi-chain.yaml')

/** The node of each provider of the sample, and what its listener is asked: a method, a path, or a gRPC method. */
const nodes = {
  eth1: { chain: null, port: 3360, asks: 'eth_blockNumber' },
  slotchain: { chain: 'slot', port: 3361, asks: 'getSlot' },
  btc: { chain: 'btc', port: 3362, asks: 'getblockcount' },
  perpevm: { chain: 'perp', port: 3363, asks: 'eth_chainId' },
  'hub-rest': { chain: 'hub-rest', port: 3364, asks: '/cosmos/base/tendermint/v1beta1/node_info' },
  'hub-tendermint': { chain: 'hub-tendermint', port: 3365, asks: 'status' },
  'hub-grpc': {
    ...{ chain: 'hub-grpc', port: 3366 },
    asks: 'cosmos.base.tendermint.v1beta1.Service/GetLatestBlock',
  },
  movechain: { chain: 'move', port: 3367, asks: '/' },
}

beforeAll(async () => {
  const anvil = ['--host', '0.0.0.0', '--port', '9001', '--chain-id', '1', '--block-time', '2']
  const image = imageOf('rpc-router-anvil', 'e2e')
  await Promise.all(
    Object.entries(nodes).map(([name, { chain }]) =>
      chain === null
        ? serve(place, podOf(name, { image, args: [...anvil, '--quiet'] }))
        : startNode(place, name, chain),
    ),
  )
})

/** The sample, but for the URLs of its providers, and what its pods ask for. */
async function sampleHere(): Promise<unknown[]> {
  const documents = parseAllDocuments(await readFile(sample, 'utf8')).map((each) => each.toJS())
  return documents.map((object) => {
    const { kind, metadata, spec } = object
    if (kind === 'RpcRouter')
      return { ...object, spec: { ...spec, pod: { resources: { requests: { cpu: '50m' } } } } }
    const host = `${metadata.name.replace('multi-chain-', '')}.${namespace}.svc:9001`
    const scheme = spec.apiInterface === 'grpc' ? 'grpc' : 'http'
    const path = new URL(spec.nodeUrls[0].url).pathname.replace(/^\/$/, '')
    return { ...object, spec: { ...spec, nodeUrls: [{ url: `${scheme}://${host}${path}` }] } }
  })
}

test('all eight listeners answer', async () => {
  await apply(...(await sampleHere()))
  await settled(place, 'multi-chain')
  expect(await run('get', 'rpcr', 'multi-chain')).toMatch(/multi-chain +True +2\/2 +8\/8 +8 /)
  await apply(nodePod('client', '--input-type=module', '-e', clientProgram()))
  await run('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/client', '--timeout=60s')
  const answers = JSON.parse(await run('logs', 'client'))
  expect(answers).toEqual({
    eth1: expect.stringMatching(/^multi-chain-eth1 .*"result":"0x/),
    slotchain: expect.stringMatching(/^multi-chain-slotchain .*"result":\d/),
    btc: expect.stringMatching(/^multi-chain-btc .*"result":\d/),
    perpevm: expect.stringMatching(/^multi-chain-perpevm .*"result":"0x3e7"/),
    'hub-rest': expect.stringMatching(/^multi-chain-hub-rest .*"network":"cosmoshub-4"/),
    'hub-tendermint': expect.stringMatching(
      /^multi-chain-hub-tendermint .*"network":"cosmoshub-4"/,
    ),
    'hub-grpc': expect.stringMatching(/^multi-chain-hub-grpc grpc-status 0 .*cosmoshub-4/),
    movechain: expect.stringMatching(/^multi-chain-movechain .*"chain_id":1\b/),
  })
})

/** Asks each listener, and prints which provider answered what. */
function clientProgram(): string {
  return `
const nodes = ${JSON.stringify(nodes)}
const host = 'multi-chain-router.${namespace}.svc'
const answers = {}
for (const [name, { port, asks }] of Object.entries(nodes))
  answers[name] = await (asks.includes('Service/') ? grpc : http)('http://' + host + ':' + port, asks)
console.log(JSON.stringify(answers))

async function http(url, asks) {
  const isPath = asks.startsWith('/')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: asks, params: [] })
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const answer = await fetch(isPath ? url + asks : url, isPath ? {} : post)
  return answer.headers.get('rpc-provider-address') + ' ' + (await answer.text())
}

async function grpc(url, asks) {
  const session = (await import('node:http2')).connect(url)
  const headers = { ':method': 'POST', ':path': '/' + asks, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request(headers)
  stream.end(Buffer.alloc(5))
  let provider = ''
  let status = ''
  let text = ''
  stream.on('response', (head) => (provider = head['rpc-provider-address'] ?? provider))
  stream.on('trailers', (end) => {
    provider ||= end['rpc-provider-address']
    status = end['grpc-status']
  })
  for await (const chunk of stream) text += chunk.toString('latin1')
  session.close()
  return provider + ' grpc-status ' + status + ' ' + JSON.stringify(text)
}`
}
