// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../../chain/load-catalog.ts'
import type { Chain, ChainCatalog, ChainInterface } from '../../chain/types.ts'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { NodeUrlConfig, RelayConfig, UpstreamConfig } from '../../config/types.ts'
import { ChainTracker } from '../../tracker/chain-tracker.ts'
import type { StateRecord } from '../../upstream/observer.ts'
import { createPool, type Pool } from '../../upstream/pool.ts'
import { dialects } from '../../upstream/dialect.ts'
import { createNoSocket } from '../../upstream/testing/no-sockets.ts'
import { nodeUrlConfig } from '../../upstream/testing/node-url-config.ts'
import {
  ScriptedTransport,
  type Script,
  type ScriptedAnswer,
} from '../../upstream/testing/scripted-transport.ts'
import type { ByteStream, Incoming } from '../../upstream/wire.ts'
import { type Call, type Directives, Journal, noDirectives } from '../call.ts'
import type { KnownTransactions } from '../known-transactions.ts'
import { createRelay, type Relay } from '../relay.ts'
import type { ReplyContent, ReplyReader } from '../reply.ts'

/** Behaviour and settings of one upstream. */
export interface FixtureUpstream {
  readonly script: Script
  readonly tier?: 'primary' | 'backup'
  readonly group?: string
  /** Default: one URL without add-ons. */
  readonly urls?: readonly Partial<NodeUrlConfig>[]
  /** Behaviour of the second and later URLs. */
  readonly otherScripts?: readonly Script[]
  /** Default: true. */
  readonly verified?: boolean
}

/** A plain answer stands for an upstream that always returns it. */
export type Upstreams = Readonly<Record<string, FixtureUpstream | ScriptedAnswer>>

export function scripted(upstreams: Upstreams): Record<string, FixtureUpstream> {
  const full = Object.entries(upstreams).map(([name, each]): [string, FixtureUpstream] => [
    name,
    'script' in each ? each : { script: () => each },
  ])
  return Object.fromEntries(full)
}

export interface TestCall {
  readonly method?: string
  readonly params?: unknown
  readonly directives?: Partial<Directives>
  readonly signal?: AbortSignal
  /** Replaces the bytes of the request. */
  readonly body?: ByteStream
  /** Replaces the plain reader below. */
  readonly reader?: ReplyReader
  /** Sets what a listener would record about the call. */
  readonly prepare?: (journal: Journal) => void
}

/** Outcome of a call for its client. */
export interface CallResult {
  readonly outcome: string
  /** Message of the router's error; null for an answer. */
  readonly message: string | null
  readonly upstream: string | null
  /** The answer of the relay; null for an error of the router. */
  readonly incoming: Incoming | null
  /** The value of `Provider-Latest-Block`. */
  readonly latestBlock: number | null
  readonly call: Call
  readonly tookMs: number
}

/** Default config, which tests override in part. */
export const usualRelay: RelayConfig = {
  strategy: 'round-robin',
  retryLimit: 2,
  maxAttempts: 10,
  processingTimeoutMs: 30_000,
  minRelayTimeoutMs: 1_000,
  integrity: 'core',
  retryMissingBlocks: false,
}

let catalog: Promise<ChainCatalog> | null = null

type OfChain = Promise<{ chain: Chain; iface: ChainInterface }>

/** The Ethereum chain of the bundled specs. */
export const ethereum = (): OfChain => bundled('ETH1')

/** The Solana chain of the bundled specs. */
export const solana = (): OfChain => bundled('SLOTCHAIN')

async function bundled(id: string): OfChain {
  const chain = (await (catalog ??= loadCatalog([]))).find(id)
  const iface = chain?.interfaces.get('jsonrpc')
  if (!chain || !iface) throw new Error(`the bundled specs lack ${id}`)
  return { chain, iface }
}

/** A relay over scripted upstreams in virtual time; round-robin follows their order. */
export class RelayFixture {
  readonly clock = new VirtualClock()
  readonly transports = new Map<string, ScriptedTransport[]>()
  /** State changes and cooldowns of the upstreams as text. */
  readonly events: string[] = []
  readonly pool: Pool
  relay: Relay
  readonly #iface: ChainInterface

  constructor(
    chain: Chain,
    iface: ChainInterface,
    upstreams: Readonly<Record<string, FixtureUpstream>>,
    config: Partial<RelayConfig & { maxSessions: number; known: KnownTransactions }> = {},
  ) {
    this.#iface = iface
    const { clock } = this
    const random = seededRandom(1)
    const relayConfig = { ...usualRelay, ...config }
    const poolObserver = {
      stateChanged: (name: string, from: string, { state }: StateRecord) =>
        this.events.push(`${name}: ${from} > ${state}`),
      cooldownBegan: (name: string, _url: string, ms: number) =>
        this.events.push(`${name}: cooldown ${ms} ms`),
      verificationFailed: () => {},
    }
    const scripts = new Map<NodeUrlConfig, [string, Script]>()
    const configs = Object.entries(upstreams).map(([name, each]): UpstreamConfig => {
      const nodeUrls = (each.urls ?? [{}]).map((url, index) => {
        const nodeUrl = nodeUrlConfig(`http://${name}-${index}.test`, url)
        scripts.set(nodeUrl, [
          name,
          index ? (each.otherScripts?.[index - 1] ?? each.script) : each.script,
        ])
        return nodeUrl
      })
      return {
        name,
        tier: each.tier ?? 'primary',
        ...(each.group !== undefined && { group: each.group }),
        chainId: chain.id,
        apiInterface: iface.apiInterface,
        nodeUrls,
      }
    })
    this.pool = createPool(configs, {
      chain,
      iface,
      tracker: new ChainTracker({ chain, clock }),
      config: { now: relayConfig },
      maxSessions: config.maxSessions ?? 1_000,
      clock,
      random,
      observer: poolObserver,
      failureThreshold: 5,
      createSocketTransport: createNoSocket,
      createTransport: (url) => {
        const [name, script] = scripts.get(url)!
        const transport = new ScriptedTransport(clock, script)
        this.transports.set(name, [...(this.transports.get(name) ?? []), transport])
        return transport
      },
    })
    for (const upstream of this.pool.upstreams) {
      if (upstreams[upstream.name]?.verified === false) continue
      for (const url of upstream.urls) url.verified = true
      upstream.availability.verified()
    }
    this.events.length = 0
    this.relay = createRelay({
      chain,
      dialect: dialects[iface.apiInterface],
      pool: this.pool,
      config: { now: relayConfig },
      selectionStats: true,
      ...(config.known && { known: config.known }),
      clock,
      observer: {
        attemptEnded: () => {},
        breakerChanged: (open) => this.events.push(open ? 'breaker open' : 'breaker closed'),
      },
    })
  }

  /** Number of requests per upstream, over all its URLs. */
  get sent(): Record<string, number> {
    return Object.fromEntries(
      [...this.transports].map(([name, urls]) => [
        name,
        urls.reduce((sum, url) => sum + url.requests.length, 0),
      ]),
    )
  }

  transport(name: string, url = 0): ScriptedTransport {
    return this.transports.get(name)![url]!
  }

  /** Sends a call and advances the clock until there is an outcome. */
  async ask(request: TestCall = {}, forMs = 150_000): Promise<CallResult> {
    const reply = this.begin(request)
    let ended = false
    void reply.then(() => (ended = true))
    const untilMs = this.clock.nowMs() + forMs
    while (this.clock.nowMs() < untilMs && !ended) await this.clock.advance(10)
    return reply
  }

  /** Sends a call without advancing the clock. */
  begin({
    method = 'eth_getBalance',
    params,
    directives,
    signal,
    body: stream,
    reader,
    prepare,
  }: TestCall = {}): Promise<CallResult> {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: params ?? ['0x00000000000000000000000000000000000000aa', 'latest'],
    })
    const { apiInterface } = this.#iface
    const question = {
      apiInterface: apiInterface === 'tendermintrpc' ? apiInterface : 'jsonrpc',
      ...(JSON.parse(body) as { method: string; params: unknown }),
    } as const
    const startedMs = this.clock.nowMs()
    const journal = new Journal(startedMs)
    prepare?.(journal)
    const spec = this.#iface.classify(question)
    const call: Call = {
      ...{ guid: 'test', method: spec },
      payload: spec.kind === 'write' && params ? Buffer.from(JSON.stringify(params)) : undefined,
      request: { verb: 'POST', path: '', headers: [], body: stream ?? Buffer.from(body) },
      reader: reader ?? { read: readPlainly, contentOf: readPlainly, write: writePlainly },
      directives: { ...noDirectives, ...directives },
      signal: signal ?? new AbortController().signal,
      journal,
    }
    const tookMs = () => this.clock.nowMs() - startedMs
    return this.relay(call).then(
      (reply) => ({
        outcome: textOf(reply.incoming),
        message: null,
        upstream: reply.upstream,
        incoming: reply.incoming,
        latestBlock: reply.latestBlock,
        call,
        tookMs: tookMs(),
      }),
      (error: { kind?: { reason: string }; name: string; message: string }) => ({
        outcome: error.kind?.reason ?? error.name,
        message: error.message,
        upstream: null,
        incoming: null,
        latestBlock: null,
        call,
        tookMs: tookMs(),
      }),
    )
  }
}

/** A simple JSON-RPC reader; the real one belongs to the listener. */
function readPlainly({ status, body }: Incoming): ReplyContent {
  if (!(body instanceof Uint8Array))
    return status < 400 ? { kind: 'result' } : { kind: 'malformed', why: 'a long error page' }
  const bytes = body
  try {
    const document = JSON.parse(Buffer.from(bytes).toString()) as {
      error?: { code: number; message: string }
      result?: unknown
    }
    if (document.error) return { kind: 'node-error', error: { status, ...document.error } }
    if (document.result !== undefined)
      return { kind: 'result', inForm: true, parsed: document.result }
  } catch {
    return { kind: 'malformed', why: 'not JSON' }
  }
  return { kind: 'malformed', why: 'neither result nor error' }
}

function textOf({ body }: Incoming): string {
  return body instanceof Uint8Array ? Buffer.from(body).toString() : 'a stream'
}

function writePlainly(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }))
}

/** A JSON-RPC answer with this result. */
export function result(value: unknown, more: ScriptedAnswer = {}): ScriptedAnswer {
  return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }), ...more }
}

/** A JSON-RPC error of a node. */
export function nodeError(
  code: number,
  message: string,
  more: ScriptedAnswer = {},
): ScriptedAnswer {
  return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } }), ...more }
}
