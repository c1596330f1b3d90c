// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../../proxy/cli/main.ts'
import { waitUntil } from '../processes/eventually.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { ethereumMethods } from '../upstream-sim/ethereum-methods.ts'
import type { Method } from '../upstream-sim/rpc-node.ts'
import type { ChainView } from '../upstream-sim/chain-view.ts'
import { type SimNode, type SimNodeOptions, startSimNode } from '../upstream-sim/sim-node.ts'
import { runProgram, startProgram } from './program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from './workspace.ts'

/*
 * The steps of a user before a switch: record an hour of traffic, and replay it at the new node.
 */

const key = 'canary-of-a-plan-51f0'
const client = 'canary-of-a-client-77aa'
const chain = createChainModel({ seed: 'replay' })
const { eth_getBlockByNumber: getBlock } = ethereumMethods() as {
  eth_getBlockByNumber: Method<ChainView>
}
/** `eth_getBlockByNumber` of a version that counts gas differently. */
const otherGas: Method<ChainView> = (view, params) => ({
  ...(getBlock(view, params) as object),
  gasUsed: '0x1',
})

let workspace: Workspace
let recording: string
let running: SimNode
const nodes: SimNode[] = []

async function start(name: string, more: Partial<SimNodeOptions> = {}): Promise<SimNode> {
  const node = await startSimNode({ chain, name, ...more })
  nodes.push(node)
  return node
}

function configOf({ url }: SimNode, name: string, settings = {}) {
  return ethereumConfig([{ name, url: `${url}/v2/\${KEY}` }], settings)
}

async function replay(config: object) {
  const against = await workspace.write('against.yml', config)
  return command('replay', recording, '--against', against, '--rate', '1000')
}

const blockAt = (back: number) => `0x${(chain.head - back).toString(16)}`
const calls = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_getBlockByNumber', params: [blockAt(200), false] },
  { method: 'eth_getBlockByNumber', params: [blockAt(201), false] },
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
  { method: 'eth_call', params: [{ to: chain.population.revertingContract }, blockAt(200)] },
  { method: 'eth_call', params: [{ to: `0x${'5e'.repeat(20)}` }, blockAt(200)] },
  { method: 'eth_accounts', params: [] },
  { method: 'eth_sendRawTransaction', params: ['0x00'] },
  { method: 'acme_mayWrite', params: [`as ${key} says`] },
]

async function record(name: string, ...flags: readonly string[]): Promise<string> {
  const file = join(workspace.directory, name)
  const config = configOf(running, 'running')
  await using program = await startProgram(workspace, config, {
    ...{ env: { KEY: key }, flags: ['--record', file, ...flags] },
  })
  const isReady = async () => (await fetch(`${program.adminUrl}/readyz`)).ok
  await waitUntil('the upstream serves', 60_000, undefined, isReady)
  for (const [id, call] of calls.entries()) {
    const body = JSON.stringify({ jsonrpc: '2.0', id, ...call })
    const headers = { 'content-type': 'application/json', authorization: client }
    await fetch(program.urls[0] ?? '', { method: 'POST', headers, body })
  }
  program.kill('SIGINT')
  expect((await program.ended).code).toBe(0)
  return file
}

beforeAll(async () => {
  workspace = await createWorkspace()
  running = await start('running', { methods: { acme_mayWrite: () => true } })
  recording = await record('calls.jsonl')
})
afterAll(async () => {
  await workspace[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
})

test('the file is private to its owner, and has each call, but no key and no header', async () => {
  expect((await stat(recording)).mode & 0o777).toBe(0o600)
  const text = await readFile(recording, 'utf8')
  const lines = text.trim().split('\n')
  for (const line of lines) expect(line).toMatch(/^{"recording":1,/)
  expect(lines).toHaveLength(calls.length)
  expect(text).toContain(calls[1]?.params[0])
  for (const hidden of [key, client]) expect(text).not.toContain(hidden)
  // Calls without a replay have no use in the file.
  const write = lines.find((line) => line.includes('eth_sendRawTransaction'))
  expect(JSON.parse(write ?? '')).toMatchObject({ exchange: 'no plain read' })
})

test('a replay at the same node has no mismatch', async () => {
  const against = await workspace.write('against.yml', configOf(running, 'running'))
  const args = ['replay', recording, '--against', against, '--rate', '1000']
  const { code, stdout, stderr } = await runProgram(args, { env: { KEY: key } })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Calls: differs 0, failed 0, mayDiffer 0, skipped 3, same 6\n/)
  for (const method of ['eth_accounts', 'eth_sendRawTransaction', 'other'])
    expect(stdout).toMatch(new RegExp(`skipped +1 +${method} +- +no plain read `))
})

test('a mismatch in one field is reported with method, field and upstream', async () => {
  const methods = { eth_getBlockByNumber: otherGas, acme_mayWrite: () => true }
  const other = await start('other', { methods })
  other.faults.add(
    { kind: 'error', code: -32_603, message: 'Internal error' },
    { methods: ['eth_call'] },
  )
  const { code, output: stdout } = await replay(configOf(other, 'other'))
  expect(code).toBe(1)
  const [counts, , , ...findings] = stdout.split('\n')
  expect(counts).toBe('Calls: differs 2, failed 2, mayDiffer 1, skipped 3, same 1')
  expect(findings.slice(0, 3)).toEqual([
    expect.stringMatching(
      /^differs +2 +eth_getBlockByNumber +other +result\.gasUsed +- +"0x\w+" +"0x1" +2$/,
    ),
    expect.stringMatching(/^failed +2 +eth_call +(other|-) /),
    expect.stringMatching(/^mayDiffer +1 +eth_getBlockByNumber +other +result\.gasUsed /),
  ])
  expect(stdout).toMatch(/^method +calls +p50Then +p50Now +p99Then +p99Now$/m)
  expect(stdout).toMatch(/^eth_chainId +1( +\d+(\.\d)?){4}$/m)
  for (const method of ['eth_sendRawTransaction', 'acme_mayWrite', 'eth_accounts'])
    expect(other.calls.count(method)).toBe(0)
})

test('without params the file has no requests, no answers and nothing to replay', async () => {
  const file = await record('bare.jsonl', '--record-without-params')
  const text = await readFile(file, 'utf8')
  expect(text).toContain('"method":"eth_chainId"')
  for (const part of [
    ...calls.flatMap(({ params }) => params.filter((each) => typeof each === 'string')),
    '"0x1"',
  ])
    expect(text).not.toContain(part)
})

const line = {
  ...{ recording: 1, at: '2026-01-01T00:00:00Z', chain: 'ETH1', interface: 'jsonrpc' },
  ...{ method: 'eth_chainId', outcome: 'success', upstream: null, totalMs: 1 },
}
const asks = (body: string, more = {}) =>
  JSON.stringify({ ...line, exchange: { verb: 'POST', path: '', body, answer: '{}', ...more } })
const question = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'

async function replayText(text: string) {
  const file = await workspace.write('bad.jsonl', text)
  const against = await workspace.write('against.yml', configOf(running, 'running'))
  return command('replay', file, '--against', against)
}

test.each([
  ['', null],
  ['hello\n', 'no line of a recording of version 1'],
  ['{"a":1}\n', 'no line of a recording of version 1'],
  [asks(question).replace('1', '2'), 'no line of a recording of version 1'],
  [JSON.stringify({ ...line, exchange: { verb: 'POST' } }), 'no line of a recording of version 1'],
  [JSON.stringify({ ...line, chain: 'LAVA', exchange: {} }), 'no line of a recording'],
  [asks(question).replace('ETH1', 'LAVA'), 'LAVA jsonrpc: not in the config'],
])('nothing in the recording %j can be sent', async (text, why) => {
  const { code, output } = await replayText(text)
  if (why !== null) expect(output).toMatch(new RegExp(`^skipped +1 .* ${why} .* 1$`, 'm'))
  expect(output).toContain('bad.jsonl: error: none of its calls can be sent again.')
  expect(code).toBe(2)
})

test.each([
  [asks('{"id":'), /invalid-request .*the request body ends/],
  [asks('', { verb: 'GET', path: '/a/%2e%2e/b', body: null }), /dot segments and percent-encoded/],
  [asks(question, { verb: 'G T' }), /broke off/],
  [asks(`[${question},${question}]`), /invalid-request/],
])('what the router takes for no call has failed: %j', async (text, message) => {
  const { code, output } = await replayText(text)
  expect(output).toMatch(message)
  expect(output).toContain('Calls: differs 0, failed 1,')
  expect(code).toBe(1)
})

test('an incomplete last line is skipped, and earlier calls are replayed', async () => {
  const text = await readFile(recording, 'utf8')
  const { code, output } = await replayText(text.slice(0, -30))
  expect(output).toContain('Calls: differs 0, failed 0, mayDiffer 0, skipped 3, same 6')
  expect(output).toMatch(/skipped +1 +- +- +no line of a recording of version 1 .* 9$/m)
  expect(code).toBe(0)
})

test('a missing recording and a directory are errors', async () => {
  const against = await workspace.write('against.yml', configOf(running, 'running'))
  const { directory } = workspace
  const missing = await command('replay', join(directory, 'none'), '--against', against)
  expect(missing).toMatchObject({ code: 2, output: expect.stringContaining('no such file') })
  const folder = await command('replay', directory, '--against', against)
  expect(folder).toMatchObject({ code: 2, output: expect.stringContaining('not a regular file') })
})

test('a write is never replayed, whatever the file says', async () => {
  const wary = await start('wary', { methods: { acme_mayWrite: () => true } })
  const text = ['eth_sendRawTransaction', 'eth_newFilter', 'eth_accounts', 'acme_mayWrite']
    .map((method) => asks(question.replace('eth_chainId', method)))
    .join('\n')
  const file = await workspace.write('writes.jsonl', `${text}\n`)
  const against = await workspace.write('wary.yml', configOf(wary, 'wary'))
  const { code, output } = await command('replay', file, '--against', against)
  expect(output).toContain('failed 4, mayDiffer 0, skipped 0, same 0')
  expect(output).toMatch(/failed +4 .* method-not-found .* no plain read /)
  expect(code).toBe(1)
  for (const method of ['eth_sendRawTransaction', 'eth_newFilter', 'eth_accounts', 'acme_mayWrite'])
    expect(wary.calls.count(method)).toBe(0)
})

test('calls without a candidate upstream report the reason', async () => {
  const gone = await start('gone')
  await gone.stop()
  const { code, output: stdout } = await replay(configOf(gone, 'gone'))
  expect(stdout).toMatch(/failed .* no-upstream .* no upstream can serve this call now \(gone: /)
  expect(code).toBe(1)
})

test.each([
  [['replay'], 'a file is missing. Write router replay <recording> --against <config.yml>.'],
  [['replay', 'a.jsonl'], 'a file is missing'],
  [['replay', 'a', 'b'], 'unexpected argument "b". router replay takes one recording.'],
  [['replay', 'a', '--against', 'nowhere.yml'], 'nowhere.yml: error: the file cannot be read'],
  [['replay', 'a', '--againts', 'b.yml'], 'unknown flag "--againts". Did you mean --against?'],
  [['replay', 'a', '--rate', '0'], '--rate: "0" is not a whole number from 1'],
  [['replay', 'a', '--rate', 'x'], '--rate: "x" is not a whole number from 1'],
  [
    ['validate', 'a.yml', '--record', 'b'],
    '--record: the flag is not of router validate. It is a flag of: router run.',
  ],
])('router %j is refused', async (args, message) => {
  const { code, output } = await command(...args)
  expect(output).toContain(message)
  expect(code).toBe(2)
})

test('an existing file is not overwritten', async () => {
  const config = await workspace.write('router.yml', configOf(running, 'running'))
  const before = await readFile(recording, 'utf8')
  const run = (...flags: readonly string[]) => runProgram([config, ...flags], { env: { KEY: key } })
  const { code, stderr } = await run('--record', recording)
  expect(code).toBe(2)
  expect(stderr).toMatch(/--record: ".*" cannot be written: file already exists\./)
  expect(await readFile(recording, 'utf8')).toBe(before)
  const elsewhere = await run('--record', `${recording}.d/x`)
  expect(elsewhere.stderr).toContain('cannot be written: its folder is missing')
  expect((await run('--record', 'x', '--record-bytes', 'much')).stderr).toContain('is not a size')
})

test('a router that cannot start leaves no file', async () => {
  const taken = new URL(running.url).host
  const own = { ...configOf(running, 'running'), 'metrics-listen-address': taken }
  const config = await workspace.write('taken.yml', own)
  const file = join(workspace.directory, 'never.jsonl')
  const { code } = await runProgram([config, '--record', file], { env: { KEY: key } })
  expect(code).toBe(1)
  await expect(stat(file)).rejects.toThrow('ENOENT')
})

async function command(...args: readonly string[]) {
  let output = ''
  const sink = { write: (text: string) => (output += text) }
  const code = await main(args, { stdout: sink, stderr: sink, environment: { KEY: key } })
  return { code, output }
}
