// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { usageOf } from './process-usage.ts'
import { scratchDirectory } from './scratch-directory.ts'

/*
 * The router's memory for one query of a million logs, and for two at once, over three limited
 * nodes. Idle is the memory after a small query. Dense logs do not fit into cached slices, sparse
 * ones fill them. Fails when the limit of a query is exceeded or a log is missing.
 *
 *   node bench/million-logs.ts
 */

const [firstBlock, head, allLogs] = [1_000, 1_000_000, 1_000_000]
/** Blocks that each node accepts. */
const limits = [10_000, 5_000, 2_000]
const targetMiB = 64
/** What the sparse query leaves in the cache. */
const cachedMiB = 4
const mebibyte = 1024 * 1024
/** The rate of a slow client. */
const slowBytesPerSecond = 10_000_000
const settleMs = 3_000

const hex = (number: number) => `0x${number.toString(16)}`
const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`

/** What the nodes return in the current case. */
let shape = { perBlock: 100, dataBytes: 64 }
let requests = 0

function logsOf(from: number, to: number): string {
  const logs: string[] = []
  const { perBlock, dataBytes } = shape
  const data = 'ab'.repeat(dataBytes)
  for (let at = from * perBlock; at < (to + 1) * perBlock; at++) {
    const [block, index] = [Math.floor(at / perBlock), hex(at % perBlock)]
    logs.push(
      `{"address":"${word(1).slice(0, 42)}","topics":["${word(2)}"],"data":"0x${data}","blockNumber":"${hex(block)}","blockHash":"${word(block)}","transactionHash":"${word(at)}","transactionIndex":"${index}","logIndex":"${index}","removed":false}`,
    )
  }
  return logs.join()
}

const node = createServer((request, response) => {
  let text = ''
  request.on('data', (piece: Buffer) => (text += piece.toString()))
  request.on('end', () => {
    const answer = ({ id, method, params }: Question) => {
      const start = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
      const simple = { eth_blockNumber: hex(head), eth_chainId: '0x1' }[method] ?? null
      if (method !== 'eth_getLogs') return `${start}"result":${JSON.stringify(simple)}}`
      const [from, to] = [Number(params[0]?.fromBlock), Number(params[0]?.toBlock)]
      const maxBlocks = Number(request.url?.slice(1))
      requests += 1
      const message = `exceed maximum block range: ${maxBlocks}`
      if (to - from >= maxBlocks) return `${start}"error":{"code":-32602,"message":"${message}"}}`
      return `${start}"result":[${logsOf(from, to)}]}`
    }
    const question = JSON.parse(text) as Question | Question[]
    response.setHeader('content-type', 'application/json')
    response.end(Array.isArray(question) ? `[${question.map(answer).join()}]` : answer(question))
  })
})

interface Question {
  readonly id: unknown
  readonly method: string
  readonly params: readonly [{ fromBlock?: string; toBlock?: string }?]
}

const directory = scratchDirectory('million-logs')
await using children = new ChildProcesses(directory)
await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
const { port } = node.address() as AddressInfo
process.stdout.write('case | idle | peak above idle | seconds | requests | logs\n')
const dense = { perBlock: 100, dataBytes: 64, isSlow: false, atOnce: 1, verify: 'off' }
const cases = [
  { ...dense, name: 'dense' },
  { ...dense, name: 'long, slow client', perBlock: 300, dataBytes: 200, isSlow: true },
  { ...dense, name: 'verified', verify: 'always' },
  { ...dense, name: 'sparse', perBlock: 3, dataBytes: 1 },
  { ...dense, name: 'two dense', atOnce: 2 },
]
for (const { name, isSlow, atOnce, verify, ...own } of cases) {
  shape = own
  const router = await startRouter({
    ...{ children, directory, signal: AbortSignal.timeout(60_000) },
    name: name.replaceAll(/\W+/g, '-'),
    upstreams: limits.map((most) => ({ name: `${most}`, url: `http://127.0.0.1:${port}/${most}` })),
    urlSettings: { 'skip-verifications': ['*'] },
    settings: { logs: { verify } },
  })
  const { pid } = router.child
  await readAll(router.url, false, firstBlock + 1)
  await sleep(settleMs)
  requests = 0
  const idleBytes = usageOf(pid).residentBytes
  const startedMs = performance.now()
  const lastBlock = firstBlock + Math.ceil(allLogs / shape.perBlock) - 1
  const reads = Array.from({ length: atOnce }, () => readAll(router.url, isSlow, lastBlock))
  const counts = await Promise.all(reads)
  const aboveMiB = inMiB(usageOf(pid).peakBytes - idleBytes)
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  const cells = [`${inMiB(idleBytes)} MiB`, `${aboveMiB} MiB`, seconds, requests, counts.join(' ')]
  process.stdout.write(`${name} | ${cells.join(' | ')}\n`)
  const isWhole = counts.every((count) => count === (lastBlock - firstBlock + 1) * shape.perBlock)
  const keptMiB = name === 'sparse' ? cachedMiB : 0
  if (!isWhole || aboveMiB > targetMiB * atOnce + keptMiB) process.exitCode = 1
}
node.close()
node.closeAllConnections()
process.stdout.write(
  `\ntarget: at most ${targetMiB} MiB above idle per query, cached logs apart, no log missing: `,
)
process.stdout.write(process.exitCode ? 'MISSED\n' : 'met\n')

function inMiB(bytes: number): number {
  return Math.round(bytes / mebibyte)
}

/** The number of logs of one query. Each shows its transaction index once. */
async function readAll(url: string, isSlow: boolean, lastBlock: number): Promise<number> {
  const params = [{ fromBlock: hex(firstBlock), toBlock: hex(lastBlock) }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  const name = '"logIndex"'
  const startedMs = performance.now()
  let [bytes, count, rest] = [0, 0, '']
  for await (const piece of response.body ?? []) {
    const text = rest + Buffer.from(piece).toString('latin1')
    count += text.split(name).length - 1
    rest = text.slice(1 - name.length)
    bytes += piece.length
    const dueMs = (bytes / slowBytesPerSecond) * 1_000
    const elapsedMs = performance.now() - startedMs
    if (isSlow && dueMs > elapsedMs) await sleep(dueMs - elapsedMs)
  }
  return count
}
