// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { untilItServes } from '../../processes/child-processes.ts'
import { freePort } from '../../processes/free-ports.ts'
import { installProject } from '../../processes/install-project.ts'
import { askRpc } from '../../processes/rpc-client.ts'
import { type AnvilNode, anvilKey, foundryProgram, startAnvil } from '../anvil.ts'
import { openGround } from './ground.ts'
import { routeJsonRpc } from './routed.ts'

const run = promisify(execFile)
const ground = await openGround([])
const project = join(import.meta.dirname, '../hardhat-project')
const hardhat = join(project, 'node_modules/hardhat/dist/src/cli.js')
const account = privateKeyToAddress(anvilKey)

beforeAll(() => installProject(project))

/** Runs the project's tests on a node. Returns the names of passed tests. Rejects on a failure. */
async function passedOn(url: string): Promise<string[]> {
  const { PATH, HOME } = process.env
  const args = [hardhat, 'test', 'nodejs', '--network', 'rpc']
  const env = { PATH, HOME, CI: 'true', RPC_URL: url }
  const tests = run(process.execPath, args, { cwd: project, env })
  const { stdout } = await tests.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`the project failed on ${url}:\n${error.stdout}\n${error.stderr}`)
  })
  const lines = stripVTControlCharacters(stdout).split('\n')
  const passed = lines.flatMap((line) => /^\s+✔ (.*?)( \(\d+ms\))?$/.exec(line)?.[1] ?? [])
  expect(stdout).toContain(`${passed.length} passing`)
  return passed
}

async function startHardhat(): Promise<string> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = await ground.children.start({
    name: 'hardhat',
    command: process.execPath,
    args: [
      ...[hardhat, 'node', '--config', join(project, 'hardhat.config.js')],
      ...['--hostname', '127.0.0.1', '--port', String(port)],
    ],
  })
  const answers = async () => Boolean(await askRpc(url, 'eth_chainId'))
  await untilItServes(child, ground.signal, answers)
  return url
}

async function startInstantAnvil(chainId: number): Promise<AnvilNode> {
  const [name, port] = [`anvil-${chainId}`, await freePort()]
  const anvil = await startAnvil({ ...ground, name, port, chainId, mining: 'each-transaction' })
  // The router caches nothing about block 0.
  await askRpc(anvil.url, 'anvil_mine', ['0x10'])
  return anvil
}

const rounds = 3

describe.each([
  ['the Hardhat node', 'HARDHAT', startHardhat],
  ['anvil', 'ANVIL', async () => (await startInstantAnvil(31_337)).url],
])('a Hardhat project on %s', (_, chainId, start) => {
  test('passes repeatedly through the router, as it does directly', async () => {
    const url = await start()
    const direct = await passedOn(url)
    expect(direct.length).toBeGreaterThan(20)
    const routed = await routeJsonRpc(ground, chainId, 'node', { url })
    for (let round = 1; round <= rounds; round++)
      expect(await passedOn(routed), `round ${round}`).toEqual(direct)
    expect(await passedOn(url)).toEqual(direct)
  })
})

describe.each([
  ['a node', 31_337, null],
  ['ANVIL', 31_337, 'ANVIL'],
  ['ETH1, which caches,', 1, 'ETH1'],
])('cast send --async on %s', (_, chainId, chain) => {
  const sends = 30

  test.each([
    ['EIP-1559', []],
    ['legacy', ['--legacy']],
  ])(`${sends} transactions in a row have ${sends} nonces: %s`, async (_type, flags) => {
    const anvil = await startInstantAnvil(chainId)
    const routed = chain && (await routeJsonRpc(ground, chain, 'node', { url: anvil.url }))
    const cast = foundryProgram('cast', join(project, 'package.json'))
    const count = () => askRpc(anvil.url, 'eth_getTransactionCount', [account, 'latest'])
    const sent = new Set<string>()
    for (let at = 1; at <= sends; at++) {
      const target = ['--rpc-url', routed ?? anvil.url, account, '--value', String(at)]
      const args = ['send', '--async', '--private-key', anvilKey, ...flags, ...target]
      sent.add((await run(cast, args)).stdout.trim())
      // The node answers before it mines a transaction.
      await expect.poll(count, { interval: 1 }).toBe(toHex(at))
    }
    expect(sent.size).toBe(sends)
  })
})
