// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { pemTexts } from '../../operator/testing/pem.ts'
import { eventually } from '../processes/eventually.ts'
import { imageOf, nodePod, podOf, serve, startNode, usePlace } from './cluster.ts'

/*
 * Runs every sample with simulated nodes, and a real node for the development network. Each
 * endpoint answers.
 */

const place = usePlace('samples')
const { namespace, run, apply } = place
const folder = join(import.meta.dirname, '../../samples')

/** By chain and interface: the node, the client's method or path, and a part of the answer. */
const nodes = {
  'ETH1 jsonrpc': { node: 'eth', call: 'eth_blockNumber', answer: '"result":"0x' },
  'DEVNET jsonrpc': { node: 'anvil', call: 'eth_chainId', answer: '"result":"0x7a69"' },
  'SLOTCHAIN jsonrpc': { node: 'slot', call: 'getSlot', answer: '"result":' },
  'BTC jsonrpc': { node: 'btc', call: 'getblockcount', answer: '"result":' },
  'PERPEVM jsonrpc': { node: 'perp', call: 'eth_chainId', answer: '"result":"0x3e7"' },
  'HUBCHAIN rest': {
    ...{ node: 'hub-rest', call: '/cosmos/base/tendermint/v1beta1/node_info' },
    answer: '"network":"cosmoshub-4"',
  },
  'HUBCHAIN tendermintrpc': {
    ...{ node: 'hub-tendermint', call: 'status' },
    answer: '"network":"cosmoshub-4"',
  },
  'HUBCHAIN grpc': {
    ...{ node: 'hub-grpc', call: 'cosmos.base.tendermint.v1beta1.Service/GetLatestBlock' },
    answer: 'cosmoshub-4',
  },
  'MOVECHAIN rest': { node: 'move', call: '/', answer: '"chain_id":1' },
}

/** The Secret that the mutual TLS sample requires. */
const clientCertificate = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name: 'node-client-certificate' },
  stringData: { 'tls.crt': pemTexts.get('@certificate'), 'tls.key': pemTexts.get('@key') },
}

const idle = 'setInterval(() => {}, 1e9)'

beforeAll(async () => {
  const simulated = Object.values(nodes).filter(({ node }) => node !== 'anvil')
  const anvil = {
    image: imageOf('rpc-router-anvil', 'e2e'),
    args: ['--host', '0.0.0.0', '--port', '9001', '--block-time', '2', '--quiet'],
  }
  await Promise.all([
    ...simulated.map(({ node }) => startNode(place, `node-${node}`, node)),
    serve(place, podOf('node-anvil', anvil)),
    // The sample with a NetworkPolicy admits clients with this name.
    apply(nodePod('wallet', '-e', idle), clientCertificate),
  ])
  await run('wait', '--for=condition=Ready', 'pod/wallet', '--timeout=60s')
})

type Manifest = Readonly<Record<string, any>>

/** Rewrites a sample to the nodes and services of this cluster. */
function sampleHere(sample: string): readonly Manifest[] {
  const documents = parseAllDocuments(readFileSync(join(folder, sample), 'utf8'))
  const image = imageOf('rpc-router-pods', 'e2e')
  const command = JSON.stringify(['/usr/local/bin/node', '-e', idle])
  const text = JSON.stringify(documents.map((each) => each.toJS()))
    .replaceAll(/\.example\.com(:\d+")/g, `.${namespace}.svc$1`)
    .replaceAll(
      '"kubernetes.io/metadata.name":"apps"',
      `"kubernetes.io/metadata.name":"${namespace}"`,
    )
    .replaceAll('"registry.example.com/sidecar:1.0.0"', `"${image}","command":${command}`)
    // Not every cluster provides volumes.
    .replaceAll('"storage":{"size":"1Gi"}', '')
  return (JSON.parse(text) as Manifest[]).map(manifestHere)
}

function manifestHere(manifest: Manifest): Manifest {
  const { kind, spec, stringData } = manifest
  if (kind === 'RpcRouter') {
    // A test cluster has few CPUs.
    const requests = { ...spec.pod?.resources?.requests, cpu: '50m' }
    const resources = { ...spec.pod?.resources, requests }
    return { ...manifest, spec: { ...spec, pod: { ...spec.pod, resources } } }
  }
  if (kind === 'Secret') {
    const values = Object.entries<string>(stringData).map(([key, value]) => {
      return [key, urlHere('ETH1 jsonrpc', value)] as const
    })
    return { ...manifest, stringData: Object.fromEntries(values) }
  }
  if (kind !== 'UpstreamProvider') return manifest
  const serves = `${spec.chainId} ${spec.apiInterface}` as keyof typeof nodes
  const nodeUrls = spec.nodeUrls.map((each: any) => {
    return { ...each, url: urlHere(serves, each.url, Boolean(each.auth?.tls)) }
  })
  return { ...manifest, spec: { ...spec, nodeUrls } }
}

/** @param needsTls whether the URL has TLS settings. No node here has TLS, so another answers */
function urlHere(serves: keyof typeof nodes, url: string, needsTls = false): string {
  const scheme = needsTls ? 'https' : serves.endsWith('grpc') ? 'grpc' : 'http'
  const at = `${scheme}://node-${nodes[serves].node}.${namespace}.svc:9001`
  // URLs must differ; simulated Ethereum nodes serve any path.
  return url.replace(/^\w+:\/\/([^/]+)/, serves === 'ETH1 jsonrpc' ? `${at}/$1` : at)
}

const samples = readdirSync(folder)
  .filter((name) => readFileSync(join(folder, name), 'utf8').includes('\nkind: RpcRouter\n'))
  .toSorted()

test.each(samples)('%s answers at every endpoint', async (sample) => {
  const objects = sampleHere(sample)
  onTestFinished(async () => {
    await place.kubectl(['delete', '--ignore-not-found', '-f', '-'], ...objects)
  })
  await apply(...objects)
  for (const { kind, metadata, spec } of objects) {
    if (kind !== 'RpcRouter') continue
    for (const { chainId, apiInterface, port = 3360 } of spec.endpoints) {
      const { call, answer } = nodes[`${chainId} ${apiInterface}` as keyof typeof nodes]
      const url = `http://${metadata.name}-router.${namespace}.svc:${port}`
      await eventually(async () => expect(await ask(url, call)).toContain(answer), 150_000)
    }
  }
})

/** Sends a request from inside the cluster. */
async function ask(url: string, call: string): Promise<string> {
  const way = call.includes('Service/') ? 'grpc' : 'http'
  const program = `console.log(await ${way}('${url}', '${call}'))${client}`
  return run('exec', 'wallet', '--', '/usr/local/bin/node', '--input-type=module', '-e', program)
}

const client = `
async function http(url, call) {
  const isPath = call.startsWith('/')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: call, params: [] })
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const answer = await fetch(isPath ? url + call : url, isPath ? {} : post)
  return answer.text()
}

async function grpc(url, call) {
  const session = (await import('node:http2')).connect(url)
  const headers = { ':method': 'POST', ':path': '/' + call, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request(headers)
  stream.end(Buffer.alloc(5))
  let text = ''
  for await (const chunk of stream) text += chunk.toString('latin1')
  session.close()
  return text
}`
