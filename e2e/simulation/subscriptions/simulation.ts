// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { VirtualClock } from '../../../proxy/clock/virtual-clock.ts'
import type { NodeUrlConfig, RelayConfig } from '../../../proxy/config/types.ts'
import { makeOwnCall } from '../../../proxy/listener/jsonrpc/own-call.ts'
import type { Call } from '../../../proxy/relay/call.ts'
import { CallAborted, RelayError } from '../../../proxy/relay/errors.ts'
import { createRelay } from '../../../proxy/relay/relay.ts'
import { createAsk, type OwnQuestion } from '../../../proxy/subscription/ask.ts'
import { ethereumFamily } from '../../../proxy/subscription/families/ethereum.ts'
import { ethereumForm } from '../../../proxy/subscription/forms/ethereum.ts'
import { Hub } from '../../../proxy/subscription/hub.ts'
import type { SubscriptionObserver } from '../../../proxy/subscription/subscriptions.ts'
import { NodeRefused, type Subscription } from '../../../proxy/subscription/subscriptions.ts'
import { createPool } from '../../../proxy/upstream/create-pool.ts'
import { dialects } from '../../../proxy/upstream/dialect.ts'
import type { Pool } from '../../../proxy/upstream/pool.ts'
import { Watch } from '../../../proxy/upstream/watch.ts'
import type { ChainModel } from '../../upstream-sim/chain-model.ts'
import type { LogFilter } from '../../upstream-sim/log-filter.ts'
import { growChain } from '../chain-growth.ts'
import { Dice } from '../dice.ts'
import { printableOf, urlConfigOf, type Spec } from '../engine.ts'
import type { Ran, Violation } from '../runner/types.ts'
import { SimulatedUrl, type Wire } from '../simulated-url.ts'
import type { Counts } from '../tally.ts'
import { Forks } from './forks.ts'
import { HeardHeads, HeardLogs, type Heard, type SubscriptionRule } from './heard.ts'
import type { ClientPlan, SubscriptionNodePlan, SubscriptionSchedule } from './schedule.ts'
import { SimulatedSocket } from './simulated-socket.ts'

export type Rule = SubscriptionRule | 'no-defect' | 'ends-with-reason' | 'shared' | 'leaves-nothing'

type Result = Ran<Rule, Counts>

/** After the schedule all is well, and this long everything may take to be whole again. */
const quietMs = 130_000
const settleMs = 60_000
const askAgainMs = 1_000

const relayConfig: RelayConfig = {
  strategy: 'balanced',
  retryLimit: 2,
  maxAttempts: 10,
  processingTimeoutMs: 10_000,
  minRelayTimeoutMs: 1_000,
  integrity: 'full',
  retryMissingBlocks: false,
}

interface Client {
  readonly name: string
  readonly plan: ClientPlan
  readonly heard: Heard
  /** The chain's head when it had its reply; null while it has none. */
  beganAt: number | null
  subscription: Subscription | null
  hasLeft: boolean
  endedReason: string | null
}

/** Runs the real subscriptions over the real relay through a schedule, in virtual time. */
export function simulateSubscriptions(schedule: SubscriptionSchedule, spec: Spec): Promise<Result> {
  return new Simulation(schedule, spec).run()
}

class Simulation {
  readonly #schedule: SubscriptionSchedule
  readonly #spec: Spec
  readonly #clock = new VirtualClock()
  readonly #chain: ChainModel
  readonly #stopChain: () => void
  readonly #forks: Forks
  readonly #sockets: SimulatedSocket[] = []
  readonly #pool: Pool
  readonly #watch: Watch
  readonly #hub: Hub
  readonly #clients: Client[] = []
  readonly #violations: Violation<Rule>[] = []
  readonly #trace: string[] = []
  readonly #counts: Counts = {}
  #calls = 0

  constructor(schedule: SubscriptionSchedule, { chain: spec, iface, built }: Spec) {
    const { seed, maxGapBlocks, stallBlocks } = schedule
    const clock = this.#clock
    const chain = { ...spec, blockTimeMs: schedule.chain.blockTimeMs }
    this.#schedule = schedule
    this.#spec = { chain, iface, built }
    const growth = growChain(schedule, clock, built, (event) => {
      this.#happened(event)
    })
    this.#chain = growth.chain
    this.#stopChain = growth.stop
    this.#forks = new Forks(schedule.nodes, {
      chain: growth.chain,
      clock,
      dice: new Dice(seed, 55),
      changed: (event) => {
        this.#happened(event)
      },
    })
    const observer = {
      stateChanged: (upstream: string, from: string, to: string, why: string) => {
        this.#say(`${upstream}: ${from} to ${to}, ${why}`)
      },
      heldOff() {},
      verificationFailed() {},
    }
    const random = new Dice(seed, 52)
    this.#pool = this.#createPool(chain, observer, random)
    const relay = createRelay({
      chain,
      dialect: dialects.jsonrpc,
      pool: this.#pool,
      config: relayConfig,
      selectionStats: false,
      clock,
      observer: { attemptEnded() {}, breakerChanged() {} },
    })
    const newCall = (question: OwnQuestion) => this.#newCall(question)
    this.#hub = new Hub({
      chain,
      family: ethereumFamily(createAsk(relay, newCall)),
      pool: this.#pool,
      ...relayConfig,
      clock,
      observer: this.#observer(),
      maxGapBlocks,
      stallBlocks,
    })
    this.#watch = new Watch({
      pool: this.#pool,
      iface,
      dialect: dialects.jsonrpc,
      failures: chain.failures,
      healthCheckIntervalMs: 300_000,
      livenessProbeIntervalMs: null,
      epochDurationMs: 900_000,
      clock,
      random,
      observer,
    })
  }

  async run(): Promise<Result> {
    const { durationMs, clients } = this.#schedule
    const clock = this.#clock
    this.#watch.start((error) => {
      this.#report('no-defect', `the watch ended with ${String(error)}`)
    })
    for (const [index, plan] of clients.entries()) {
      const client = this.#client(`c${index + 1}`, plan)
      clock.after(plan.atMs, () => void this.#subscribe(client))
      if (plan.leavesAfterMs !== null)
        clock.after(plan.atMs + plan.leavesAfterMs, () => {
          this.#leave(client)
        })
    }
    await clock.advance(Math.max(durationMs, 5_000) + quietMs)
    this.#stopChain()
    await clock.advance(settleMs)
    for (const client of this.#clients) this.#checkAtEnd(client)
    for (const client of this.#clients) this.#leave(client)
    await clock.advance(1_000)
    const open = this.#sockets.reduce((sum, { held }) => sum + held.size, 0)
    if (open > 0) this.#report('leaves-nothing', `${open} subscriptions are left at upstreams`)
    this.#hub.close()
    this.#watch.stop()
    await clock.advance(20_000)
    await this.#pool.close()
    if (clock.pending > 0) this.#report('leaves-nothing', `${clock.pending} timers are left`)
    this.#count('schedules', 1)
    return { violations: this.#violations, trace: () => this.#trace, tally: this.#counts }
  }

  #createPool(
    chain: Spec['chain'],
    observer: Parameters<typeof createPool>[1]['observer'],
    random: Dice,
  ): Pool {
    const { nodes, seed } = this.#schedule
    const clock = this.#clock
    const wire: Wire = {
      clock,
      chain: this.#chain,
      observer: { sent() {}, ended() {} },
      answered: new WeakMap(),
      branchOf: (name) => this.#forks.branchOf(name),
      heavyMs: () => 0,
    }
    const socketWire = {
      clock,
      chain: this.#chain,
      branchOf: (name: string) => this.#forks.branchOf(name),
      say: (event: string) => {
        this.#say(event)
      },
    }
    const byUrl = (url: NodeUrlConfig) => {
      const [, name = '', index = '0'] = /(node-(\d+))-\d\./.exec(url.url.toString()) ?? []
      const node = nodes.find((each) => each.name === name) as SubscriptionNodePlan
      // By its name: it draws the same when others are left out.
      return { index: Number(index), node }
    }
    return createPool(
      nodes.map((node) => ({
        name: node.name,
        tier: 'primary',
        chainId: chain.id,
        apiInterface: 'jsonrpc',
        groupLabel: null,
        nodeUrls: [
          urlConfigOf(node.http, printableOf(node, 0)),
          ...(node.socket
            ? [{ ...urlConfigOf(node.http, printableOf(node, 1)), scheme: 'ws' as const }]
            : []),
        ],
      })),
      {
        chain,
        iface: this.#spec.iface,
        strategy: relayConfig.strategy,
        maxSessions: 1_000,
        clock,
        random,
        observer,
        failureThreshold: 5,
        createTransport: (url) => {
          const { node, index } = byUrl(url)
          const place = { upstream: node.name, url: 0, printable: url.url.toString() }
          return new SimulatedUrl(place, node.http, wire, new Dice(seed, 200 + index))
        },
        createSocketTransport: (url) => {
          const { node, index } = byUrl(url)
          const plan = node.socket
          if (!plan) throw new Error('a socket without a plan')
          const dice = new Dice(seed, 300 + index)
          const socket = new SimulatedSocket(node.name, plan, socketWire, dice)
          this.#sockets.push(socket)
          return socket
        },
      },
    )
  }

  #happened(event: string): void {
    this.#say(event)
    if (event.startsWith('reorg')) this.#count('reorgs', 1)
    if (event.startsWith('block')) this.#forks.mined()
    if (event.startsWith('node')) this.#count('forks', 1)
    for (const socket of this.#sockets) socket.happened()
    const held = this.#sockets.flatMap((socket) => [...socket.held])
    if (held.length > 1) this.#report('shared', `${held.length} subscriptions for one sequence`)
  }

  #newCall(question: OwnQuestion): Call {
    if (++this.#calls > 50_000) throw new Error('it asks without end')
    const { iface } = this.#spec
    return makeOwnCall(question, `own-${this.#calls}`, { iface, clock: this.#clock })
  }

  #client(name: string, plan: ClientPlan): Client {
    const report = (rule: Rule, what: string) => {
      this.#report(rule, `${name}: ${what}`)
    }
    const [topic, filter] = plan.params
    const heard =
      topic === 'newHeads'
        ? new HeardHeads(this.#chain, report)
        : new HeardLogs(this.#chain, filter as LogFilter, report)
    const state = { beganAt: null, subscription: null, hasLeft: false, endedReason: null }
    const client: Client = { name, plan, heard, ...state }
    this.#clients.push(client)
    return client
  }

  async #subscribe(client: Client): Promise<void> {
    const { name, plan, heard } = client
    if (client.hasLeft) return
    const question = { method: 'eth_subscribe', params: plan.params, id: '1' }
    const wish = ethereumForm.read(question)
    if (wish?.kind !== 'subscribe') throw new Error('not a subscription')
    const abort = new AbortController()
    try {
      const call = this.#newCall({ ...question, prefer: null, avoid: [], signal: abort.signal })
      this.#say(`${name} asks for ${wish.topic.key}`)
      const subscription = await this.#hub.subscribe(call, wish.topic, {
        event: (result) => {
          if (client.hasLeft) this.#report('leaves-nothing', `${name} hears after it left`)
          const text = Buffer.from(result).toString()
          this.#say(`${name} hears ${describe(text)}`)
          heard.event(text)
        },
        ended: (reason) => {
          this.#ended(client, reason)
        },
      })
      client.subscription = subscription
      client.beganAt = this.#chain.head
      this.#say(`${name} has its reply at ${client.beganAt}`)
      if (client.hasLeft) subscription.unsubscribe()
      else subscription.begin()
    } catch (error) {
      if (error instanceof CallAborted) return
      if (!(error instanceof RelayError || error instanceof NodeRefused))
        return this.#report('no-defect', `${name}: ${String(error)}`)
      this.#say(`${name} is refused: ${error.message}`)
      this.#count('refused', 1)
      this.#clock.after(askAgainMs, () => void this.#subscribe(client))
    }
  }

  #leave(client: Client): void {
    if (client.hasLeft) return
    client.hasLeft = true
    this.#say(`${client.name} leaves`)
    client.subscription?.unsubscribe()
  }

  #ended(client: Client, reason: string): void {
    client.endedReason = reason
    this.#say(`${client.name} is ended: ${reason}`)
    this.#count('ended', 1)
    const { maxGapBlocks } = this.#schedule
    if (reason === 'internal error' || maxGapBlocks >= 1_000)
      this.#report('ends-with-reason', `${client.name} was ended: ${reason}`)
  }

  #checkAtEnd({ name, beganAt, heard, hasLeft, endedReason }: Client): void {
    this.#count('events', heard.count)
    if (hasLeft || endedReason !== null) return
    if (beganAt === null) return this.#report('no-hole', `${name} never got a reply`)
    const { nodes } = this.#schedule
    const lagBlocks = Math.max(...nodes.map(({ http }) => http.lagBlocks))
    heard.checkWhole(beganAt + 1, this.#chain.head - lagBlocks)
  }

  #observer(): SubscriptionObserver {
    return {
      clientsChanged() {},
      upstreamChanged() {},
      left: (topic, source, why) => {
        this.#say(`${topic} leaves ${source}: ${why}`)
        this.#count('failovers', 1)
      },
      joined: (topic, source) => {
        this.#say(`${topic} is on ${source}`)
      },
      filled: (topic, events) => {
        this.#say(`${topic} fills ${events}`)
        this.#count('filled', events)
      },
      duplicateDropped: () => {
        this.#count('duplicates dropped', 1)
      },
      fetchFailed: (topic, forMs, why) => {
        this.#say(`${topic} lacks what is next for ${forMs.toFixed(0)} ms: ${why}`)
        this.#count('failed fetches', 1)
      },
      ended() {},
      failed: (topic, error) => {
        this.#report('no-defect', `${topic}: ${(error as Error).stack ?? String(error)}`)
      },
    }
  }

  #count(name: string, times: number): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + times
  }

  #report(rule: Rule, what: string): void {
    this.#violations.push({ rule, what })
    this.#say(`VIOLATION of ${rule}: ${what}`)
  }

  #say(event: string): void {
    this.#trace.push(`${this.#clock.nowMs().toFixed(3).padStart(11)}  ${event}`)
  }
}

function describe(text: string): string {
  const event = JSON.parse(text) as Record<string, string>
  const number = event['blockNumber'] ?? event['number'] ?? ''
  const hash = (event['blockHash'] ?? event['hash'] ?? '').slice(0, 10)
  const index = event['logIndex'] === undefined ? '' : ` log ${event['logIndex']}`
  return `${Number(number)} ${hash}${index}${event['removed'] ? ' removed' : ''}`
}
