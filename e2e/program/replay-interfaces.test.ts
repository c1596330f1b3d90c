// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, credentials } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import { type SpecNode, startSpecNode } from '../every-interface/spec-node.ts'
import { eventually, waitUntil } from '../processes/eventually.ts'
import { type Leg, routerConfig } from '../processes/router-config.ts'
import { runProgram, startProgram } from './program.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

/*
 * Records calls of every interface except JSON-RPC, and replays them as the clients sent them. The
 * nodes echo each request.
 */

const grpcMethod = 'sdk.bank.v1beta1.Query/Balance'

let workspace: Workspace
let recording: string
let config: Readonly<Record<string, unknown>>
const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

beforeAll(async () => {
  workspace = stack.use(await createWorkspace())
  const chain = (await loadCatalog([])).find('HUBCHAIN')
  const legs: Leg[] = []
  for (const apiInterface of ['rest', 'tendermintrpc', 'grpc'] as const) {
    const iface = chain!.interfaces.get(apiInterface)!
    const node: SpecNode = stack.use(await startSpecNode(iface, [grpcMethod]))
    const nodes = [{ name: `${apiInterface}-node`, urls: [{ url: node.url }] }]
    legs.push({ chainId: 'HUBCHAIN', apiInterface, nodes })
  }
  config = { ...routerConfig(legs), 'skip-websocket-verification': true }
  // On a busy machine a gRPC answer may end so late that it counts as an unrecorded stream.
  await eventually(async () => {
    recording = join(workspace.directory, `calls-${randomUUID()}.jsonl`)
    await record()
    return !(await readFile(recording, 'utf8')).includes('a stream')
  })
})

async function record(): Promise<void> {
  await using program = await startProgram(workspace, config, { flags: ['--record', recording] })
  const isReady = async () => (await fetch(`${program.adminUrl}/readyz`)).ok
  await waitUntil('the upstreams serve', 60_000, undefined, isReady)
  const [rest = '', tendermint = '', grpc = ''] = program.urls
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'abci_query', params: {} })
  const requests = [
    [`${rest}/sdk/bank/v1beta1/balances/a?b=c%3Fd?e`, {}],
    [tendermint, { method: 'POST', body }],
    [`${tendermint}/abci_query?path="/a?b"`, {}],
  ] as const
  for (const [url, init] of requests) expect((await fetch(url, init)).status).toBe(200)
  await askGrpc(new URL(grpc).host)
  program.kill('SIGINT')
  expect((await program.ended).code).toBe(0)
}

async function askGrpc(host: string): Promise<void> {
  const client = new Client(host, credentials.createInsecure())
  const same = (value: Buffer) => value
  await new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${grpcMethod}`,
      same,
      same,
      Buffer.from('\n\u0001a'),
      (error, value) => (error ? reject(error) : resolve(value)),
    )
  }).finally(() => client.close())
}

async function replay(text: string) {
  const file = await workspace.write('again.jsonl', text)
  const against = await workspace.write('against.yml', config)
  return runProgram(['replay', file, '--against', against, '--rate', '1000'])
}

test('a replay at the same nodes has no mismatch', async () => {
  const { code, stderr, stdout } = await replay(await readFile(recording, 'utf8'))
  expect(stdout).toMatch(/^Calls: differs 0, failed 0, mayDiffer 0, skipped 0, same 4\n/)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('a replay finds a mismatch on every interface, by field for JSON', async () => {
  const text = await readFile(recording, 'utf8')
  const { code, stdout } = await replay(text.replaceAll(/(?<="answer":.*)(bank|abci)/g, 'oo'))
  expect(stdout).toMatch(/^Calls: differs 0, failed 0, mayDiffer 4, skipped 0, same 0\n/)
  expect(code).toBe(0)
  const is = (path: string) => `"asked: ${path.replaceAll('?', '\\?')}"`
  for (const row of [
    `2 +abci_query +tendermintrpc-node +result +- +${is('oo_query')} +${is('abci_query')} `,
    `1 +\\S+ +rest-node .* ${is('GET /sdk/bank/v1beta1/balances/a?b=c%3Fd?e')} `,
    `1 +${grpcMethod} +grpc-node +\\(all\\) .*sdk\\.oo\\..* .*sdk\\.bank\\.`,
  ])
    expect(stdout).toMatch(new RegExp(`^mayDiffer +${row}`, 'm'))
})
