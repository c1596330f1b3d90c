// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getEventListeners, setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { ByteBudget } from '../../proxy/bytes/byte-budget.ts'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { systemClock as clock } from '../../proxy/clock/clock.ts'
import { Secret } from '../../proxy/config/secret.ts'
import { JsonRpcReplyReader } from '../../proxy/listener/jsonrpc/jsonrpc-reply-reader.ts'
import { type Call, Journal, noDirectives } from '../../proxy/relay/call.ts'
import { createRelay } from '../../proxy/relay/relay.ts'
import { ChainTracker } from '../../proxy/tracker/chain-tracker.ts'
import { createPool } from '../../proxy/upstream/pool.ts'
import { dialects } from '../../proxy/upstream/dialect.ts'
import { createHttpTransport } from '../../proxy/upstream/wire/http/http-transport.ts'
import type { Transport } from '../../proxy/upstream/wire.ts'
import { createNoSocket } from '../../proxy/upstream/testing/no-sockets.ts'
import { type SocketNode, startPromptNode, startSilentNode } from './socket-node.ts'

const wantedHedges = 10_000
/** Hedges of the warm-up, after which memory must not grow. */
const warmUpHedges = 500
const lanes = 50
/**
 * In-memory reads per millisecond, which earn credit for hedges. Their latency sets the p95 hedge
 * delay, so that most losers are connected, and in the middle of their body, when they lose.
 */
const earningReads = 20
const patienceMs = 25
const mebibyte = 1024 * 1024
/** Half of the losers have 100 kB when they lose: a leak would hold 475 MB. */
const maxGrownBytes = 32 * mebibyte

const collectGarbage = (() => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

test('ten thousand hedges leave no socket, no body, no timer and no listener behind', async () => {
  await using silent = await startSilentNode()
  await using prompt = await startPromptNode()
  const client = new AbortController()
  setMaxListeners(0, client.signal)
  await using racing = await startRacing(silent, prompt, client.signal)

  await racing.until(warmUpHedges)
  const before = await atRest(silent)
  await racing.until(wantedHedges)
  const after = await atRest(silent)

  expect(racing.hedged).toBeGreaterThanOrEqual(wantedHedges)
  expect(silent.requests).toBeGreaterThan(wantedHedges / 10)
  expect(racing.outcomes).toEqual({ won: racing.hedged })
  expect(racing.sessions).toBe(0)
  // A loser's connection cannot be reused. Winners retain theirs, one per lane.
  expect(silent.open).toBe(0)
  expect(prompt.open).toBeLessThanOrEqual(2 * lanes)
  expect(getEventListeners(client.signal, 'abort')).toHaveLength(0)
  expect(after.sockets - before.sockets).toBeLessThanOrEqual(2 * lanes)
  expect(after.timers).toBeLessThanOrEqual(before.timers + lanes)
  expect(after.bytes - before.bytes).toBeLessThan(maxGrownBytes)
}, 180_000)

/** Resources in use once the last loser's connection is closed and garbage is collected. */
async function atRest(silent: SocketNode) {
  for (let each = 0; each < 500 && silent.open > 0; each++) await sleep(10)
  collectGarbage()
  await sleep(50)
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  const count = (kind: string) => resources.filter((each) => each === kind).length
  return { bytes: heapUsed + external, sockets: count('TCPSocketWrap'), timers: count('Timeout') }
}

/** Reads that the silent node gets first, and the prompt node answers. */
async function startRacing(silent: SocketNode, prompt: SocketNode, signal: AbortSignal) {
  const chain = (await loadCatalog([])).find('ETH1')
  const iface = chain?.interfaces.get('jsonrpc')
  if (!chain || !iface) throw new Error('the bundled specs lack ETH1')
  const silence = { stateChanged() {}, cooldownBegan() {}, verificationFailed() {} }
  const wireless = { url: 'http://wireless.test/' }
  const pool = createPool(
    Object.entries({ silent, prompt, wireless }).map(([name, { url }]) => ({
      name,
      tier: 'primary',
      chainId: chain.id,
      apiInterface: 'jsonrpc',
      groupLabel: null,
      nodeUrls: [
        {
          url: new Secret(url, url),
          scheme: 'http',
          // No attempt may time out, even on a busy machine.
          timeoutMs: 60_000,
          maxBatch: 100,
          limits: null,
          maxLogBlocks: null,
          addons: [],
          skipVerifications: ['*'],
          authHeaders: new Map(),
          authQuery: new Map(),
          compression: false,
          traceContext: false,
          tls: null,
        },
      ],
    })),
    {
      chain,
      iface,
      tracker: new ChainTracker({ chain, clock }),
      config: { now: { strategy: 'balanced' } },
      maxSessions: 1_000,
      clock,
      random: seededRandom(1),
      observer: silence,
      failureThreshold: 5,
      createSocketTransport: createNoSocket,
      createTransport: (url) =>
        url.url.reveal() === wireless.url
          ? wirelessTransport
          : createHttpTransport(url, { clock, budget: new ByteBudget(1e9) }),
    },
  )
  for (const upstream of pool.upstreams) {
    for (const url of upstream.urls) url.verified = true
    upstream.availability.verified()
  }
  const relay = createRelay({
    chain,
    dialect: dialects.jsonrpc,
    pool,
    config: {
      now: {
        strategy: 'balanced',
        retryLimit: 2,
        maxAttempts: 10,
        processingTimeoutMs: 30_000,
        minRelayTimeoutMs: 1_000,
        integrity: 'full',
        retryMissingBlocks: false,
      },
    },
    selectionStats: false,
    clock,
    observer: { attemptEnded() {}, breakerChanged() {} },
  })

  const params = [`0x${'11'.repeat(20)}`, 'latest']
  const question = { apiInterface: 'jsonrpc', method: 'eth_getBalance', params } as const
  const id = Buffer.from('1')
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, ...question }))
  const begin = (selectProvider: string, blockProviders: readonly string[]): Call => ({
    guid: 'hedged',
    method: iface.classify(question),
    request: { verb: 'POST', path: '', headers: ['content-type', 'application/json'], body },
    reader: new JsonRpcReplyReader(id, id),
    directives: { ...noDirectives, selectProvider, blockProviders },
    signal,
    journal: new Journal(clock.nowMs()),
  })
  const outcomes: Record<string, number> = {}
  let hedged = 0
  return {
    outcomes,
    get hedged() {
      return hedged
    },
    get sessions() {
      return pool.upstreams.reduce((sum, { usedSlots }) => sum + usedSlots, 0)
    },
    /** Keeps every lane busy until `wanted` hedges were made. */
    async until(wanted: number) {
      let busy = lanes
      const lane = async () => {
        while (hedged < wanted) {
          const call = begin('silent', ['wireless'])
          const { upstream } = await relay(call)
          const { attempts } = call.journal
          hedged += attempts.filter(({ kind }) => kind === 'hedge').length
          const results = attempts.map(({ result }) =>
            typeof result === 'object' ? String(result?.name) : result,
          )
          const isWon = upstream === 'prompt' && results.join() === 'aborted,answer'
          const outcome = isWon ? 'won' : `${upstream}: ${results.join()}`
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        }
        busy -= 1
      }
      const earning = async () => {
        for (; busy > 0; await sleep(1))
          for (let each = 0; each < earningReads; each++) void relay(begin('wireless', []))
      }
      await Promise.all([earning(), ...Array.from({ length: lanes }, lane)])
    },
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

/** A transport that answers after a delay without sockets. */
const wirelessTransport: Transport = {
  async send() {
    await sleep(patienceMs)
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
    return { status: 200, headers: [], body, trailers: () => [] }
  },
  close: () => Promise.resolve(),
}
