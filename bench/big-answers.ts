// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash, type Hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { bigAnswer, bigParams, createBigNode, type BigShape } from './big-node.ts'
import { usageOf } from './process-usage.ts'
import { scratchDirectory } from './scratch-directory.ts'

/*
 * The router's memory for four concurrent answers of 50 MB, with default settings. Compares every
 * answer with that of the node. Fails when a limit is exceeded.
 *
 *   node bench/big-answers.ts
 */

const answerBytes = 50_000_000
const atOnce = 4
const targetMiB = 64
const mebibyte = 1024 * 1024
/** The rate of a slow client. */
const slowBytesPerSecond = 10_000_000
const settleMs = 3_000

interface Case {
  readonly name: string
  readonly shape: BigShape
  readonly isSlow?: boolean
  readonly acceptsGzip?: boolean
}

const cases: readonly Case[] = [
  { name: 'logs', shape: 'logs' },
  { name: 'one string', shape: 'one string' },
  { name: 'id behind the result', shape: 'id behind' },
  { name: 'logs, slow clients', shape: 'logs', isSlow: true },
  { name: 'logs, gzip to the clients', shape: 'logs', acceptsGzip: true },
  { name: 'logs, gzip from the node', shape: 'gzip from the node' },
]

const directory = scratchDirectory('big')
await using children = new ChildProcesses(directory)
let shape: BigShape = 'logs'
const node = createBigNode(answerBytes, () => shape)
await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
const { port } = node.address() as AddressInfo
const router = await startRouter({
  children,
  directory,
  upstreams: [{ name: 'big', url: `http://127.0.0.1:${port}` }],
  signal: AbortSignal.timeout(60_000),
})
const { pid } = router.child
await sleep(settleMs)
const idleBytes = usageOf(pid).residentBytes
process.stdout.write(`idle: ${inMiB(idleBytes)} MiB\n\n`)
process.stdout.write(
  `${atOnce} answers of ${answerBytes / 1e6} MB at once | peak above idle | seconds | router CPU s | equal\n`,
)
for (const each of cases) {
  shape = each.shape
  const wanted = hashOf(each.shape)
  // Resets the peak of resident memory.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const before = usageOf(pid)
  const startedMs = performance.now()
  const hashes = await Promise.all(Array.from({ length: atOnce }, () => fetchBig(each)))
  const seconds = (performance.now() - startedMs) / 1_000
  const after = usageOf(pid)
  const aboveMiB = inMiB(after.peakBytes - idleBytes)
  const areEqual = hashes.every((hash) => hash === wanted)
  const cells = [
    each.name,
    `${aboveMiB} MiB`,
    seconds.toFixed(1),
    (after.cpuSeconds - before.cpuSeconds).toFixed(1),
    areEqual ? 'yes' : 'NO',
  ]
  process.stdout.write(`${cells.join(' | ')}\n`)
  if (!areEqual || aboveMiB > targetMiB) process.exitCode = 1
}
node.close()
node.closeAllConnections()
process.stdout.write(`\ntarget: at most ${targetMiB} MiB above idle, every answer equal: `)
process.stdout.write(process.exitCode ? 'MISSED\n' : 'met\n')

function inMiB(bytes: number): number {
  return Math.round(bytes / mebibyte)
}

function hashOf(of: BigShape): string {
  const hash = createHash('sha256')
  for (const piece of bigAnswer(of, '7', answerBytes)) hash.update(piece)
  return hash.digest('hex')
}

/** The hash of one decoded answer. */
function fetchBig({ shape: asked, isSlow = false, acceptsGzip = false }: Case): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, ...bigParams(asked) })
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (acceptsGzip) headers['accept-encoding'] = 'gzip'
    const sent = request(router.url, { method: 'POST', headers, agent: false }, (response) => {
      const isZipped = response.headers['content-encoding'] === 'gzip'
      const stream = isZipped ? response.pipe(createGunzip()) : response
      response.on('error', reject)
      hashStream(stream, isSlow).then((hash) => {
        resolve(hash.digest('hex'))
      }, reject)
    })
    sent.on('error', reject).end(body)
  })
}

async function hashStream(stream: AsyncIterable<Buffer>, isSlow: boolean): Promise<Hash> {
  const hash = createHash('sha256')
  const startedMs = performance.now()
  let bytes = 0
  for await (const chunk of stream) {
    hash.update(chunk)
    bytes += chunk.length
    const dueMs = (bytes / slowBytesPerSecond) * 1_000
    const elapsedMs = performance.now() - startedMs
    if (isSlow && dueMs > elapsedMs) await sleep(dueMs - elapsedMs)
  }
  return hash
}
