// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { main } from '../../proxy/cli/main.ts'
import { waitUntil } from '../processes/eventually.ts'
import { freePort } from '../processes/free-ports.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { type Program, startProgram } from './program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from './workspace.ts'

/*
 * `router explain` and its admin page, on a running program.
 */

const secret = 'a2Vl-of-a-plan'
const chain = createChainModel()
let workspace: Workspace
let nodes: SimNode[] = []
let program: Program
let at: string
beforeAll(async () => {
  workspace = await createWorkspace()
  nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
  const urls = nodes.map(({ name, url }) => ({ name, url: `${url}/?key=${secret}` }))
  program = await startProgram(workspace, ethereumConfig(urls))
  at = new URL(program.adminUrl).host
  const isReady = async () =>
    (await (await fetch(`${program.adminUrl}/readyz`)).text()).includes('2 of 2 upstreams')
  await waitUntil('two upstreams serve', 60_000, undefined, isReady)
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await workspace[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
})
beforeEach(() => {
  for (const { faults } of nodes) faults.clear()
})

async function post(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(program.urls[0] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { guid: answer.headers.get('rpc-guid') ?? '', text: await answer.text() }
}

const question = (method: string, params: readonly unknown[] = []) => ({
  ...{ jsonrpc: '2.0', id: 1, method, params },
})

async function explain(...args: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof written) => ({
    write: (text: string) => (written[name] += text),
  })
  const io = { stdout: sink('stdout'), stderr: sink('stderr'), environment: {} }
  const code = await main(['explain', ...args], io)
  return { code, ...written }
}

test('a retried call shows attempts, answers and exclusions, but no key and no parameter', async () => {
  nodes[1]?.faults.add({ kind: 'reset', when: 'before-head' }, { methods: ['eth_getBalance'] })
  const account = `0x${'5e'.repeat(20)}`
  const body = question('eth_getBalance', [account, '0x10'])
  const { guid } = await post(body, { 'rpc-select-provider': 'b' })
  const nobody = `127.0.0.1:${await freePort()}`
  const { code, stdout, stderr } = await explain(guid, '--at', `${nobody},${at}`)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    new RegExp(
      [
        `^ETH1 jsonrpc eth_getBalance  ${guid}`,
        String.raw`20\d\d-.*Z  success after .*s, answered by a`,
        'from 127.0.0.1, path /, node',
        'cache: miss, class finalized',
        String.raw`\+.*s  first  b  connection-reset in .*s, budget 20s \(ECONNRESET\)`,
        String.raw`\+.*s  retry  a  answer in .*s, budget 20s`,
        ' +upstream  rank  score  availability  latency  sync  candidate',
        String.raw` +a +0 +[01]\.\d\d .* yes`,
        ' +b +4 .* no: tried\n$',
      ].join('\n'),
    ),
  )
  const json = await (await fetch(`${program.adminUrl}/explain/${guid}`)).text()
  expect(JSON.parse(json)).toMatchObject({
    calls: [{ guid, answeredBy: 'a', attempts: [{ kind: 'first' }, { kind: 'retry' }] }],
  })
  for (const hidden of [secret, account, '5e5e', '0x10'])
    expect(stdout + json).not.toContain(hidden)
  for (const name of ['a', 'b'])
    expect((await explain('--retried', '--upstream', name, '--at', at)).stdout).toContain(guid)
  expect((await explain('--upstream', 'b', '--at', at)).stdout).toContain(guid)
  expect((await explain('--failed', '--upstream', 'b', '--at', at)).stdout).not.toContain(guid)
})

test('failed calls are listed per replica, and the items of a batch share a guid', async () => {
  for (const { faults } of nodes)
    faults.add({ kind: 'status', status: 500, body: 'html' }, { methods: ['eth_gasPrice'] })
  const { guid } = await post([question('eth_chainId'), question('eth_gasPrice')])
  const { code, stdout } = await explain('--failed', '--at', `${at},localhost:${at.split(':')[1]}`)
  expect(code).toBe(0)
  expect(stdout).toMatch(
    new RegExp(`^${at}\n20.*Z  ${guid}-1  ETH1 jsonrpc eth_gasPrice  upstream-`),
  )
  expect(stdout.split('\n').filter((line) => line.includes(`${guid}-1`))).toHaveLength(2)
  const both = (await explain(guid, `--at=${at}`)).stdout
  expect(both).toContain(`eth_chainId  ${guid}-0`)
  expect(both).toContain(`eth_gasPrice  ${guid}-1`)
})

test('sessions, cross-validation, writes and refusals are explained', async () => {
  const lines = async (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    (await explain((await post(body, headers)).guid, '--at', at)).stdout
  const ask = question('eth_chainId')
  expect(await lines(ask, { 'rpc-stickiness': 's' })).toMatch(/\nsession: [ab], new\n {4}upstream/)
  expect(await lines(ask, { 'rpc-stickiness': 's' })).toMatch(/\nsession: [ab], known\n\+/)
  const votes = {
    'rpc-cross-validation-max-participants': '2',
    'rpc-cross-validation-agreement-threshold': '2',
  }
  expect(await lines(ask, votes)).toMatch(
    /\nvote: agreed; asked [ab], [ab]\n {4}agree [ab], [ab]; diff/,
  )
  expect(await lines(question('eth_sendRawTransaction', ['0x']))).toMatch(
    /\n\+.* broadcast +[ab] +.*\n\+.* broadcast +[ab] /,
  )
  const refused = await lines('{')
  expect(refused).toMatch(/^ETH1 jsonrpc \(refused before it became a call\) {2}/)
  expect(refused).toMatch(
    /parse-error after 0\.0ms.*\nfrom 127\.0\.0\.1, path \/, node\nerror: .*\nno upstream was tried\n$/,
  )
})

test.each<[string[], number, RegExp]>([
  [
    ['1-2-3', '--at', 'AT'],
    1,
    /^router: error: AT: no call has this guid here; stored: \d+ recent/,
  ],
  [
    ['1-2-3', '--at', 'NOBODY'],
    1,
    /^router: error: NOBODY: the admin address is not on: no router runs there, .*--at.*\n$/,
  ],
  [
    ['--slow', '--at', 'AT,NOBODY'],
    1,
    /^router: error: NOBODY: the admin address is not on: no router runs there, .*--at.*\n$/,
  ],
  [[], 2, /expected one guid, --failed, --slow, --retried or --upstream/],
  [['1', '--upstream', 'a'], 2, /expected one guid/],
  [['1', '2'], 2, /unexpected argument "2"\. router explain takes one guid/],
  [['1', '--failed'], 2, /expected one guid/],
  [['--failed', '--slow'], 2, /expected one guid/],
  [['../status', '--at', 'AT'], 1, /^router: error: AT: no call has this guid here/],
  [['1', '--at', 'http://a'], 2, /--at: "http:\/\/a" is a URL; expected an address/],
  [
    ['1', '--at', '1.2.3.4.5,b c'],
    2,
    /"1\.2\.3\.4\.5" is not an address.*\n.*"b c" is not an addr/,
  ],
  [['1', '--att', 'b'], 2, /--att: unknown flag "--att"\. Did you mean --at\?/],
  [['1', '--at'], 2, /--at: the value is missing/],
])('router explain %j fails with code %i and says why', async (args, code, why) => {
  const nobody = `127.0.0.1:${await freePort()}`
  const outcome = await explain(
    ...args.map((arg) => arg.replace('AT', at).replace('NOBODY', nobody)),
  )
  expect(outcome.code).toBe(code)
  expect(outcome.stderr.replaceAll(at, 'AT').replaceAll(nobody, 'NOBODY')).toMatch(why)
})

test('explain --help', async () => {
  expect(await explain('--help')).toMatchObject({ code: 0, stderr: '' })
  expect((await explain('-h')).stdout).toContain('Usage: router explain [guid] [flags]')
})

test('the output of an admin address without call history is shown unchanged', async () => {
  const { stderr } = await explain('1', '--at', new URL(nodes[0]?.url ?? '').host)
  expect(stderr).toMatch(
    /^router: error: .*: it answers with HTTP \d+ \(is it an admin address, .*\): .*\n$/,
  )
})
