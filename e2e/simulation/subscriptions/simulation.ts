// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { EventLoopPacer } from '../../../proxy/bytes/event-loop-pacer.ts'
import { VirtualClock } from '../../../proxy/clock/testing/virtual-clock.ts'
import { makeOwnCall } from '../../../proxy/listener/jsonrpc/jsonrpc-call.ts'
import type { Call } from '../../../proxy/relay/call.ts'
import { CallAborted, RelayError } from '../../../proxy/relay/errors.ts'
import { usualRelay } from '../../../proxy/relay/testing/relay-fixture.ts'
import { createAsk, type OwnQuestion } from '../../../proxy/subscription/ask.ts'
import { ethereumFamily } from '../../../proxy/subscription/ethereum/ethereum.ts'
import { ethereumForm } from '../../../proxy/subscription/ethereum/form.ts'
import { Hub } from '../../../proxy/subscription/hub.ts'
import type { SubscriptionObserver } from '../../../proxy/subscription/subscriptions.ts'
import { NodeRefused, type Subscription } from '../../../proxy/subscription/subscriptions.ts'
import type { Pool } from '../../../proxy/upstream/pool.ts'
import type { Watch } from '../../../proxy/upstream/watch.ts'
import type { ChainModel } from '../../upstream-sim/chain-model.ts'
import { growChain } from '../chain-growth.ts'
import { Dice } from '../dice.ts'
import { createEngine, printableOf, type Spec } from '../engine.ts'
import { Run } from '../runner/run.ts'
import type { Settings } from '../schedule.ts'
import { Forks } from './forks.ts'
import { ReceivedHeads, ReceivedLogs, type Received } from './received.ts'
import type { ClientPlan, SubscriptionSchedule } from './schedule.ts'
import { SimulatedSocket } from './simulated-socket.ts'

/** Time without faults after the schedule. */
const recoveryMs = 130_000
const settleMs = 60_000
const resubscribeMs = 1_000

const settings: Settings = {
  relay: { ...usualRelay, strategy: 'balanced', processingTimeoutMs: 10_000, integrity: 'full' },
  failureThreshold: 5,
  maxSessions: 1_000,
  healthCheckIntervalMs: 300_000,
  livenessProbeIntervalMs: null,
  epochDurationMs: 900_000,
}

interface Client {
  readonly name: string
  readonly plan: ClientPlan
  readonly received: Received
  /** Head of the chain at the reply; null before the reply. */
  startBlock: number | null
  subscription: Subscription | null
  hasLeft: boolean
  endedReason: string | null
}

/** Runs the real subscriptions and relay through a schedule in virtual time. */
export function simulateSubscriptions(schedule: SubscriptionSchedule, spec: Spec): Promise<Run> {
  return new Simulation(schedule, spec).run()
}

class Simulation {
  readonly #schedule: SubscriptionSchedule
  readonly #spec: Spec
  readonly #clock = new VirtualClock()
  readonly #run = new Run(this.#clock)
  readonly #chain: ChainModel
  readonly #stopChain: () => void
  readonly #forks: Forks
  readonly #forkDice: Dice
  readonly #sockets: SimulatedSocket[] = []
  readonly #pool: Pool
  readonly #watch: Watch
  readonly #hub: Hub
  readonly #clients: Client[] = []
  #calls = 0

  constructor(schedule: SubscriptionSchedule, spec: Spec) {
    const { seed, nodes, maxGapBlocks, stallBlocks } = schedule
    const clock = this.#clock
    const happened = (event: string) => this.#happened(event)
    this.#schedule = schedule
    this.#spec = { ...spec, chain: { ...spec.chain, blockTimeMs: schedule.chain.blockTimeMs } }
    const { chain, stop } = growChain(schedule, clock, happened)
    this.#chain = chain
    this.#stopChain = stop
    this.#forkDice = new Dice(seed, 55)
    this.#forks = new Forks(nodes, chain, clock, happened)
    const branchOf = (name: string) => this.#forks.branchOf(name)
    const { pool, relay, watch } = createEngine({
      ...this.#spec,
      seed,
      settings,
      nodes,
      clock,
      wire: { clock, chain, answered: new WeakMap(), branchOf },
      poolObserver: {
        stateChanged: (upstream, from, { state, why }) =>
          this.#run.log(`${upstream}: ${from} to ${state}, ${why}`),
        cooldownBegan() {},
        verificationFailed() {},
      },
      relayObserver: { attemptEnded() {}, breakerChanged() {} },
      createSocket: (printable) => {
        const index = nodes.findIndex((node) => printableOf(node, 'socket') === printable)
        const { name, socket: plan } = nodes[index]!
        const dice = new Dice(seed, 300 + index)
        const socket = new SimulatedSocket(name, plan!, { clock, chain, branchOf }, dice)
        this.#sockets.push(socket)
        return socket
      },
    })
    this.#pool = pool
    this.#watch = watch
    this.#hub = new Hub({
      config: { now: settings.relay },
      chain: this.#spec.chain,
      family: ethereumFamily(createAsk(relay, (question) => this.#newCall(question))),
      pool,
      clock,
      turns: new EventLoopPacer(Infinity),
      random: new Dice(seed, 400),
      observer: this.#observer(),
      maxGapBlocks,
      maxTopics: 10_000,
      stallBlocks,
    })
  }

  async run(): Promise<Run> {
    const { durationMs, clients } = this.#schedule
    const clock = this.#clock
    this.#watch.start((error) =>
      this.#run.report('no-defect', `the watch ended with ${String(error)}`),
    )
    for (const [index, plan] of clients.entries()) {
      const client = this.#client(`c${index + 1}`, plan)
      clock.after(plan.atMs, () => void this.#subscribe(client))
      if (plan.leavesAfterMs !== null)
        clock.after(plan.atMs + plan.leavesAfterMs, () => this.#leave(client))
    }
    await clock.advance(Math.max(durationMs, 5_000) + recoveryMs)
    this.#stopChain()
    await clock.advance(settleMs)
    for (const client of this.#clients) this.#checkAtEnd(client)
    for (const client of this.#clients) this.#leave(client)
    await clock.advance(1_000)
    const open = this.#sockets.reduce((sum, { held }) => sum + held.size, 0)
    if (open > 0) this.#run.report('leaves-nothing', `${open} upstream subscriptions are left`)
    const { subscriptions } = this.#pool.tracker
    if (subscriptions !== 0)
      this.#run.report('leaves-nothing', `the tracker still counts ${subscriptions} clients`)
    this.#hub.close()
    this.#watch.stop()
    await clock.advance(20_000)
    await this.#pool.close()
    if (clock.pending > 0) this.#run.report('leaves-nothing', `${clock.pending} timers are left`)
    this.#run.count('schedules', 1)
    return this.#run
  }

  #happened(event: string): void {
    this.#run.log(event)
    if (event.startsWith('reorg')) this.#run.count('reorgs', 1)
    if (event.startsWith('block')) this.#forks.mined(this.#chain, this.#forkDice)
    if (event.startsWith('node')) this.#run.count('forks', 1)
    for (const socket of this.#sockets) socket.happened()
    const open = this.#sockets.reduce((sum, { held }) => sum + held.size, 0)
    if (open > 1) this.#run.report('shared', `${open} upstream subscriptions for one topic`)
  }

  #newCall(question: OwnQuestion): Call {
    if (++this.#calls > 50_000) throw new Error('the router sends calls endlessly')
    const { iface } = this.#spec
    return makeOwnCall(question, `own-${this.#calls}`, { iface, clock: this.#clock })
  }

  #client(name: string, plan: ClientPlan): Client {
    const report = (rule: string, what: string) => this.#run.report(rule, `${name}: ${what}`)
    const { filter } = plan
    const received =
      filter === null
        ? new ReceivedHeads(this.#chain, report)
        : new ReceivedLogs(this.#chain, filter, report)
    const state = { startBlock: null, subscription: null, hasLeft: false, endedReason: null }
    const client: Client = { name, plan, received, ...state }
    this.#clients.push(client)
    return client
  }

  async #subscribe(client: Client): Promise<void> {
    const { name, plan, received } = client
    if (client.hasLeft) return
    const params = plan.filter === null ? ['newHeads'] : ['logs', plan.filter]
    const question = { method: 'eth_subscribe', params, id: '1' }
    const request = ethereumForm.read(question)
    if (request?.kind !== 'subscribe') throw new Error('not a subscription')
    const abort = new AbortController()
    try {
      const call = this.#newCall({ ...question, prefer: null, avoid: [], signal: abort.signal })
      this.#run.log(`${name} subscribes to ${request.topic.key}`)
      const subscriber = {
        event: (result: Uint8Array) => {
          if (client.hasLeft)
            this.#run.report('leaves-nothing', `${name} got an event after it left`)
          const text = Buffer.from(result).toString()
          this.#run.log(`${name} receives ${describe(text)}`)
          received.event(text)
        },
        ended: (reason: string) => this.#ended(client, reason),
      }
      const subscription = await this.#hub.subscribe(call, request.topic, subscriber, name)
      client.subscription = subscription
      client.startBlock = this.#chain.head
      this.#run.log(`${name} gets its reply at ${client.startBlock}`)
      if (client.hasLeft) subscription.unsubscribe()
      else subscription.begin()
    } catch (error) {
      if (error instanceof CallAborted) return
      if (!(error instanceof RelayError || error instanceof NodeRefused))
        return this.#run.report('no-defect', `${name}: ${String(error)}`)
      this.#run.log(`${name} is refused: ${error.message}`)
      this.#run.count('refused', 1)
      this.#clock.after(resubscribeMs, () => void this.#subscribe(client))
    }
  }

  #leave(client: Client): void {
    if (client.hasLeft) return
    client.hasLeft = true
    this.#run.log(`${client.name} leaves`)
    client.subscription?.unsubscribe()
  }

  #ended(client: Client, reason: string): void {
    client.endedReason = reason
    this.#run.log(`${client.name} ends: ${reason}`)
    this.#run.count('ended', 1)
    const { maxGapBlocks } = this.#schedule
    if (reason === 'internal error' || maxGapBlocks >= 1_000)
      this.#run.report('ends-with-reason', `${client.name} ended: ${reason}`)
  }

  #checkAtEnd({ name, startBlock, received, hasLeft, endedReason }: Client): void {
    this.#run.count('events', received.count)
    if (hasLeft || endedReason !== null) return
    if (startBlock === null) return this.#run.report('no-hole', `${name} never got a reply`)
    const { nodes } = this.#schedule
    const lagBlocks = Math.max(...nodes.map(({ urls }) => urls[0]!.lagBlocks))
    received.checkWhole(startBlock + 1, this.#chain.head - lagBlocks)
  }

  #observer(): SubscriptionObserver {
    return {
      clientsChanged() {},
      upstreamChanged() {},
      left: (topic, source, why) => {
        this.#run.log(`${topic} leaves ${source}: ${why}`)
        this.#run.count('failovers', 1)
      },
      joined: (topic, source) => this.#run.log(`${topic} is on ${source}`),
      filled: (topic, events) => {
        this.#run.log(`${topic} fills ${events}`)
        this.#run.count('filled', events)
      },
      duplicateDropped: () => this.#run.count('duplicates dropped', 1),
      fetchFailed: (topic, forMs, why) => {
        this.#run.log(`${topic} has lacked its next block for ${forMs.toFixed(0)} ms: ${why}`)
        this.#run.count('failed fetches', 1)
      },
      ended() {},
      failed: (topic, error) =>
        this.#run.report('no-defect', `${topic}: ${(error as Error).stack ?? String(error)}`),
    }
  }
}

function describe(text: string): string {
  const event = JSON.parse(text) as Record<string, string>
  const number = event['blockNumber'] ?? event['number'] ?? ''
  const hash = (event['blockHash'] ?? event['hash'] ?? '').slice(0, 10)
  const index = event['logIndex'] === undefined ? '' : ` log ${event['logIndex']}`
  return `${Number(number)} ${hash}${index}${event['removed'] ? ' removed' : ''}`
}
