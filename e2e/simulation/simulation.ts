// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import { dialects } from '../../proxy/upstream/dialect.ts'
import type { NodeUrlConfig } from '../../proxy/config/types.ts'
import type { ListenerObserver } from '../../proxy/listener/observer.ts'
import type { RelayObserver } from '../../proxy/relay/call.ts'
import { createRelay } from '../../proxy/relay/relay.ts'
import type { Relay } from '../../proxy/relay/relay.ts'
import { createMetrics, type Metrics } from '../../proxy/telemetry/metrics.ts'
import { createPool } from '../../proxy/upstream/create-pool.ts'
import type { PoolObserver } from '../../proxy/upstream/observer.ts'
import { createNoSocket } from '../../proxy/upstream/testing/no-sockets.ts'
import { Watch } from '../../proxy/upstream/watch.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { Arena, Rule, Seat, Told, Violation } from './arena.ts'
import { growChain } from './chain-growth.ts'
import { checkCalls, checkRecovery, checkRemains, recoveryMs } from './check-afterwards.ts'
import { checkEnding, checkExchange } from './check-ending.ts'
import { checkMetrics } from './check-afterwards.ts'
import { checkHedges, checkSending } from './check-sending.ts'
import type { ClientCall } from './client-call.ts'
import { beginCall } from './clients.ts'
import { Dice } from './dice.ts'
import { configOf, printableOf, type Spec } from './engine.ts'
import type { Exchange, WireObserver } from './client-call.ts'
import type { Ran } from './runner/types.ts'
import type { Schedule } from './schedule.ts'
import { SimulatedUrl, type Answered } from './simulated-url.ts'
import { countCall, countExchange, emptyTally, outcomeOf, type Tally } from './tally.ts'
import { TipWatch } from './tip-watch.ts'

type Result = Ran<Rule, Tally>

/** Calls are waited for in steps of this. */
const stepMs = 1_000
/** No schedule needs as many; one that does has lost its way. */
const mostSent = 20_000

interface Happening {
  readonly atMs: number
  readonly what: string
}

/** Runs the real engine through a schedule, in virtual time, and judges every step. */
export async function simulate(schedule: Schedule, spec: Spec): Promise<Result> {
  return new Simulation(schedule, spec).run()
}

class Simulation implements Arena, WireObserver {
  readonly schedule: Schedule
  readonly clock = new VirtualClock()
  readonly chain: ChainModel
  readonly allowedLagBlocks: number
  readonly pool
  readonly answered: Answered = new WeakMap()
  readonly seats = new Map<string, Seat>()
  readonly calls = new Map<string, ClientCall>()
  readonly #spec: Spec
  readonly #relay: Relay
  readonly #watch: Watch
  readonly #metrics: Metrics | null
  readonly #listening: ListenerObserver | null
  readonly #tip: TipWatch
  readonly #violations: Violation[] = []
  readonly #trace: Happening[] = []
  readonly #tally = emptyTally()
  readonly #stopChain: () => void
  readonly told: Told = { holdOffs: 0, stateChanges: 0, failedVerifications: 0, breakerTrips: 0 }
  #open = 0
  #sent = 0

  constructor(schedule: Schedule, { chain: spec, iface, built }: Spec) {
    const { settings, seed } = schedule
    const { clock } = this
    const chain = { ...spec, blockTimeMs: schedule.chain.blockTimeMs }
    this.#spec = { chain, iface, built }
    this.schedule = schedule
    this.allowedLagBlocks = chain.allowedLagBlocks
    const growth = growChain(schedule, clock, built, (event) => {
      this.#say(event)
    })
    this.chain = growth.chain
    this.#stopChain = growth.stop
    this.#metrics = schedule.withMetrics ? createMetrics({ version: 'simulated' }) : null
    this.#listening = this.#metrics?.listenerObserver(chain.id, 'jsonrpc') ?? null
    const observer = this.#poolObserver()
    const random = new Dice(seed, 2)
    const transports = new Map<string, SimulatedUrl>()
    for (const [index, node] of schedule.nodes.entries())
      for (const [url, plan] of node.urls.entries()) {
        const place = { upstream: node.name, url, printable: printableOf(node, url) }
        const heavyMs = (callId: string) => this.calls.get(callId)?.plan.heavyMs ?? 0
        const wire = { clock, chain: this.chain, observer: this, answered: this.answered, heavyMs }
        const dice = new Dice(seed, 100 + index * 10 + url)
        transports.set(place.printable, new SimulatedUrl(place, plan, wire, dice))
      }
    this.pool = createPool(
      schedule.nodes.map((node) => configOf(node, chain)),
      {
        chain,
        iface,
        strategy: settings.relay.strategy,
        maxSessions: settings.maxSessions,
        clock,
        random,
        observer,
        failureThreshold: settings.failureThreshold,
        createSocketTransport: createNoSocket,
        createTransport: (url: NodeUrlConfig) => transports.get(url.url.toString()) as SimulatedUrl,
      },
    )
    for (const upstream of this.pool.upstreams)
      for (const url of upstream.urls) {
        const { plan } = transports.get(url.printable) as SimulatedUrl
        const node = schedule.nodes.find(({ name }) => name === upstream.name)!
        this.seats.set(url.printable, {
          upstream,
          node,
          plan,
          url,
          heldOffUntilMs: -Infinity,
          limitedUntilMs: -Infinity,
        })
      }
    this.#metrics?.registerPool(chain.id, 'jsonrpc', () => this.pool.snapshot())
    this.#relay = createRelay({
      chain,
      dialect: dialects.jsonrpc,
      pool: this.pool,
      config: settings.relay,
      selectionStats: false,
      clock,
      observer: this.#relayObserver(),
    })
    this.#watch = new Watch({
      pool: this.pool,
      iface,
      dialect: dialects.jsonrpc,
      failures: chain.failures,
      healthCheckIntervalMs: settings.healthCheckIntervalMs,
      livenessProbeIntervalMs: settings.livenessProbeIntervalMs,
      epochDurationMs: settings.epochDurationMs,
      clock,
      random,
      observer,
    })
    this.#tip = new TipWatch(this)
  }

  async run(): Promise<Result> {
    const { schedule, clock } = this
    this.#watch.start((error) => {
      this.report('no-defect', `the watch ended with ${String(error)}`)
    })
    for (const [index, plan] of schedule.requests.entries())
      clock.after(plan.atMs, () => {
        const client = beginCall(`c${index + 1}`, plan, this, this.#spec, this.#relay, (ended) => {
          this.#ended(ended)
        })
        this.#say(`${client.id} asks ${plan.method} ${JSON.stringify(client.question.params)}`)
      })
    await clock.advance(schedule.durationMs)
    const longestMs = schedule.settings.relay.processingTimeoutMs + stepMs
    for (let waitedMs = 0; this.#isBusy && waitedMs < longestMs; waitedMs += stepMs)
      await clock.advance(stepMs)
    await this.#quieten()
    checkCalls(this)
    this.#watch.stop()
    this.#stopChain()
    await clock.advance(0)
    await this.pool.close()
    checkRemains(this, this.#open)
    if (this.#metrics) await checkMetrics(this, this.#metrics)
    this.#tally.schedules = 1
    this.#tally.virtualMs = clock.nowMs()
    const trace = () => this.#trace.map(lineOf)
    return { violations: this.#violations, trace, tally: this.#tally }
  }

  report(rule: Rule, what: string): void {
    this.#violations.push({ rule, atMs: this.clock.nowMs(), what })
    this.#say(`VIOLATION of ${rule}: ${what}`)
  }

  sent(exchange: Exchange): void {
    this.#open += 1
    this.#sent += 1
    // An engine that runs in a circle must not take the whole simulation along.
    if (this.#sent === mostSent) this.report('ends-once', `${mostSent} requests and no end`)
    if (this.#sent >= mostSent) throw new Error('too many requests')
    const client = exchange.callId === null ? undefined : this.calls.get(exchange.callId)
    client?.exchanges.push(exchange)
    const kind = client ? client.call.journal.attempts.at(-1)?.kind : 'probe'
    const { place, fate, callId, method } = exchange
    const about = fate.kind === 'honest' ? '' : fate.kind === 'lie' ? fate.lie : fate.illness
    this.#say(`${callId ?? method} > ${place.upstream}/${place.url} ${kind} ${about}`)
    checkSending(this, exchange)
    this.#tip.look()
    if (kind === 'hedge') checkHedges(this)
  }

  ended(exchange: Exchange): void {
    this.#open -= 1
    countExchange(this.#tally, exchange)
    const { place, callId, method, isTakenBack } = exchange
    const how = isTakenBack ? 'taken back' : 'ended'
    this.#say(`${callId ?? method} < ${place.upstream}/${place.url} ${how}`)
    checkExchange(this, exchange)
    this.#tip.ended(exchange)
  }

  get #isBusy(): boolean {
    for (const { endedMs, exchanges } of this.calls.values())
      if (endedMs === null || exchanges.some((each) => each.endedMs === null)) return true
    return this.calls.size < this.schedule.requests.length
  }

  /** One schedule in sixteen is followed by a quiet time, after which all that is well must serve. */
  async #quieten(): Promise<void> {
    if (this.schedule.seed % 16 !== 0) return
    const lastMs = this.schedule.nodes
      .flatMap(({ urls }) => urls.flatMap(({ ailments }) => ailments))
      .reduce((latest, { untilMs }) => Math.max(latest, untilMs), 0)
    const wellMs = Math.min(Math.max(lastMs, this.clock.nowMs()), this.clock.nowMs() + 60_000)
    await this.clock.advance(wellMs + recoveryMs - this.clock.nowMs())
    checkRecovery(this)
  }

  #ended(client: ClientCall): void {
    const { outcome, call, startedMs } = client
    this.#say(`${client.id} = ${outcomeOf(client)}`)
    countCall(this.#tally, client)
    if (outcome && outcome.kind !== 'defect')
      this.#listening?.callEnded(
        call,
        // When the head of an answer goes out, nobody knows yet that it will break off.
        outcome.kind === 'broken-off' ? { ...outcome, kind: 'reply' } : outcome,
        this.clock.nowMs() - startedMs,
      )
    checkEnding(this, client)
    this.#tip.look()
  }

  #relayObserver(): RelayObserver {
    const metrics = this.#metrics?.relayObserver(this.#spec.chain.id, 'jsonrpc')
    return {
      attemptEnded: (call, attempt) => {
        metrics?.attemptEnded(call, attempt)
      },
      breakerChanged: (open) => {
        if (open) this.told.breakerTrips += 1
        this.#say(open ? 'breaker open' : 'breaker closed')
        metrics?.breakerChanged(open)
      },
    }
  }

  #poolObserver(): PoolObserver {
    const metrics = this.#metrics?.poolObserver(this.#spec.chain.id, 'jsonrpc')
    return {
      stateChanged: (upstream, from, to, why) => {
        this.told.stateChanges += 1
        this.#say(`${upstream}: ${from} to ${to}, ${why}`)
        metrics?.stateChanged(upstream, from, to, why)
      },
      heldOff: (upstream, url, holdOffMs) => {
        this.told.holdOffs += 1
        const seat = this.seats.get(url)
        if (seat) seat.heldOffUntilMs = this.clock.nowMs() + holdOffMs
        this.#say(`${url} held off for ${holdOffMs} ms`)
        metrics?.heldOff(upstream, url, holdOffMs)
      },
      verificationFailed: (upstream, url, verification, why) => {
        this.told.failedVerifications += 1
        this.#say(`${url} fails ${verification}: ${why}`)
        metrics?.verificationFailed(upstream, url, verification, why)
      },
    }
  }

  #say(what: string): void {
    this.#trace.push({ atMs: this.clock.nowMs(), what })
  }
}

function lineOf({ atMs, what }: Happening): string {
  return `${atMs.toFixed(3).padStart(11)}  ${what}`
}
