// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { Transaction, Wallet } from 'ethers'
import { serveRouter, uncached } from '../served/served-router.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'

export const head = 20_000_000
const settleMs = 2_000
/** Ten blocks: more than Ethereum's allowed lag. */
export const lag = 10
/** A block that a lagging node lacks, and that a pruned node has removed. */
const requestedBlock = `0x${(head - 2).toString(16)}`
const address = `0x${'11'.repeat(20)}`
const sender = new Wallet(`0x${'5e'.repeat(32)}`)
const rawTransaction = await sender.signTransaction({
  type: 2,
  chainId: 1,
  nonce: 0,
  to: address,
  value: 1n,
  gasLimit: 21_000n,
  maxFeePerGas: 50_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
})

/** One call of each kind that the router treats differently. */
export const questions = {
  read: { method: 'eth_getBalance', params: [address, requestedBlock] },
  latest: { method: 'eth_getBalance', params: [address, 'latest'] },
  call: { method: 'eth_call', params: [{ to: address, data: '0x' }, requestedBlock] },
  write: { method: 'eth_sendRawTransaction', params: [rawTransaction] },
  local: { method: 'eth_accounts', params: [] },
} as const
export type Kind = keyof typeof questions

/** Methods with faults. The router's own requests use others. */
export const askedMethods = [...new Set(Object.values(questions).map(({ method }) => method))]

/** Nodes by name. Bad nodes come first, so that they are selected first. */
export const pools = {
  'one of two': { primaries: 'ab', backups: '', bad: 'a' },
  'one of three': { primaries: 'abc', backups: '', bad: 'a' },
  'all of three': { primaries: 'abc', backups: '', bad: 'abc' },
  'with backup': { primaries: 'a', backups: 'z', bad: 'a' },
} as const
export type PoolName = keyof typeof pools

/** Makes a node bad. `view` settings are set before the router starts. */
export interface Badness {
  readonly fromStart?: (node: SimNode) => void
  readonly onceServing?: (node: SimNode) => void | Promise<void>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Cell extends AsyncDisposable {
  /** Sends a request and returns the result of `describeAnswer`. */
  ask(kind: Kind): Promise<string>
  /** Number of client requests at each node, in pool order: `1/0/2`. */
  calls(): string
  /** Waits a limited time for these calls, since parts of a broadcast may be in flight. */
  settled(calls: string): Promise<void>
}

export async function startCell(poolName: PoolName, badness: Badness): Promise<Cell> {
  const pool = pools[poolName]
  const stack = new AsyncDisposableStack()
  const chain = createChainModel({ head })
  const startNode = async (name: string) => stack.use(await startSimNode({ chain, name }))
  const primaries = await Promise.all([...pool.primaries].map(startNode))
  const backups = await Promise.all([...pool.backups].map(startNode))
  const nodes = [...primaries, ...backups]
  const bad = nodes.filter(({ name }) => pool.bad.includes(name))
  for (const node of bad) badness.fromStart?.(node)
  const router = stack.use(await serveRouter({ primaries, backups, settings: uncached }))
  for (const { name } of nodes.toReversed()) await showTip(router.url, name)
  for (const node of nodes) node.calls.clear()
  for (const node of bad) await badness.onceServing?.(node)
  const balanceAt = (height: number) => `0x${chain.state.balance(address, height).toString(16)}`
  const truths: Readonly<Record<Kind, readonly unknown[]>> = {
    read: [balanceAt(head - 2)],
    // A lagging node is right about its own latest block.
    latest: [balanceAt(head), balanceAt(head - lag)],
    call: ['0x'],
    write: [Transaction.from(rawTransaction).hash],
    local: [[]],
  }
  const calls = () =>
    nodes
      .map((node) => askedMethods.reduce((sum, method) => sum + node.calls.count(method), 0))
      .join('/')
  return {
    async ask(kind) {
      const response = await fetch(router.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...badness.headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 'mine', ...questions[kind] }),
      })
      const seen = describeAnswer(response, await response.text(), truths[kind])
      // A write goes to all nodes, and any of them may accept it first.
      return kind === 'write' ? seen.replace(/^[a-z](?= |$)/, '*') : seen
    },
    calls,
    async settled(wanted) {
      const untilMs = performance.now() + settleMs
      while (calls() !== wanted && performance.now() < untilMs) await sleep(5)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Sends a call to one node, so that the router learns the tip from the answer. */
async function showTip(url: string, node: string): Promise<void> {
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'rpc-select-provider': node },
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}',
  }).then((response) => response.text())
}

/**
 * `*`: an accepted write; `b`: the right answer from node b; `b stale`: right at the head of a
 * lagging node; `a null`; `a 429`, `a -32005`: the node's own error, unmodified. Otherwise returns
 * the reason of the router's own error, or the answer itself.
 */
function describeAnswer(response: Response, text: string, truths: readonly unknown[]): string {
  const by = response.headers.get('rpc-provider-address')
  const { status } = response
  if (by !== null && status !== 200) return `${by} ${status}`
  const { id, result, error } = JSON.parse(text) as {
    id: unknown
    result?: unknown
    error?: { code: number; data?: { reason?: string } }
  }
  if (id !== 'mine') return `wrong id: ${text}`
  if (error !== undefined) return by === null ? `${error.data?.reason}` : `${by} ${error.code}`
  if (result === null) return `${by} null`
  const at = truths.findIndex((truth) => JSON.stringify(truth) === JSON.stringify(result))
  return at < 0 ? `wrong result: ${text}` : `${by}${at > 0 ? ' stale' : ''}`
}
