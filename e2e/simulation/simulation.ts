// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import type { RelayObserver } from '../../proxy/relay/call.ts'
import type { Relay } from '../../proxy/relay/relay.ts'
import type { PoolObserver } from '../../proxy/upstream/observer.ts'
import type { Pool } from '../../proxy/upstream/pool.ts'
import type { Watch } from '../../proxy/upstream/watch.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { Answered, Arena, ClientCall, Exchange, Fate, Seat } from './arena.ts'
import { growChain } from './chain-growth.ts'
import { checkCalls, checkRecovery, checkRemains, recoveryMs } from './check-afterwards.ts'
import { checkEnding, checkExchange } from './check-ending.ts'
import { checkHedges, checkSending } from './check-sending.ts'
import { beginCall } from './clients.ts'
import { createEngine, printableOf, type Spec } from './engine.ts'
import { FloorWatch } from './floor-watch.ts'
import { Run } from './runner/run.ts'
import type { Schedule } from './schedule.ts'
import { TipWatch } from './tip-watch.ts'

/** Step of the wait for the last calls. */
const stepMs = 1_000
/** Limit of requests, which no correct run reaches. */
const maxSent = 20_000

/** Runs the real engine through a schedule in virtual time, and checks every step. */
export async function simulate(schedule: Schedule, spec: Spec): Promise<Run> {
  return new Simulation(schedule, spec).run()
}

class Simulation implements Arena {
  readonly schedule: Schedule
  readonly clock = new VirtualClock()
  readonly chain: ChainModel
  readonly headAt: Arena['headAt']
  readonly floors = new FloorWatch(this)
  readonly allowedLagBlocks: number
  readonly pool: Pool
  readonly answered: Answered = new WeakMap()
  readonly seats = new Map<string, Seat>()
  readonly calls = new Map<string, ClientCall>()
  readonly #spec: Spec
  readonly #relay: Relay
  readonly #watch: Watch
  readonly #tip: TipWatch
  readonly #run = new Run(this.clock)
  readonly #stopChain: () => void
  readonly report = this.#run.report.bind(this.#run)
  #open = 0
  #sent = 0

  constructor(schedule: Schedule, spec: Spec) {
    const { clock, answered } = this
    const chain = { ...spec.chain, blockTimeMs: schedule.chain.blockTimeMs }
    this.#spec = { ...spec, chain }
    this.schedule = schedule
    this.allowedLagBlocks = chain.allowedLagBlocks
    const growth = growChain(schedule, clock, (event) => this.#run.log(event))
    this.chain = growth.chain
    this.headAt = growth.headAt
    this.#stopChain = growth.stop
    const engine = createEngine({
      ...schedule,
      ...this.#spec,
      clock,
      wire: {
        clock,
        chain: growth.chain,
        answered,
        heavyMs: (callId) => this.calls.get(callId)?.plan.heavyMs ?? 0,
        sent: (exchange) => this.#requestSent(exchange),
        ended: (exchange) => this.#requestEnded(exchange),
      },
      ...this.#observers(),
    })
    this.pool = engine.pool
    this.#relay = engine.relay
    this.#watch = engine.watch
    const plans = new Map(
      schedule.nodes.flatMap((node) =>
        node.urls.map((plan, url) => [printableOf(node, url), plan] as const),
      ),
    )
    for (const upstream of this.pool.upstreams)
      for (const url of upstream.urls)
        this.seats.set(url.printable, {
          upstream,
          plan: plans.get(url.printable)!,
          url,
          cooldownUntilMs: -Infinity,
          limitedUntilMs: -Infinity,
          lastTrialMs: -Infinity,
          trial: null,
          syncingSinceMs: Infinity,
        })
    this.#tip = new TipWatch(this)
  }

  async run(): Promise<Run> {
    const { schedule, clock } = this
    this.#watch.start((error) => this.report('no-defect', `the watch ended with ${String(error)}`))
    for (const [index, plan] of schedule.requests.entries())
      clock.after(plan.atMs, () => {
        const client = beginCall(`c${index + 1}`, plan, this, this.#spec, this.#relay, (ended) =>
          this.#ended(ended),
        )
        this.#run.log(`${client.id} calls ${plan.method} ${JSON.stringify(client.question.params)}`)
      })
    await clock.advance(schedule.durationMs)
    const maxMs = schedule.settings.relay.processingTimeoutMs + stepMs
    for (let waitedMs = 0; this.#isBusy && waitedMs < maxMs; waitedMs += stepMs)
      await clock.advance(stepMs)
    await this.#recover()
    checkCalls(this)
    this.#watch.stop()
    this.#stopChain()
    await clock.advance(0)
    await this.pool.close()
    checkRemains(this, this.#open)
    this.#run.count('schedules')
    return this.#run
  }

  #requestSent(exchange: Exchange): void {
    this.#open += 1
    this.#sent += 1
    // An engine in an endless loop must not stop the whole simulation.
    if (this.#sent === maxSent) this.report('ends-once', `${maxSent} requests and no end`)
    if (this.#sent >= maxSent) throw new Error('too many requests')
    const client = exchange.callId === null ? undefined : this.calls.get(exchange.callId)
    client?.exchanges.push(exchange)
    const kind = client ? client.call.journal.attempts.at(-1)?.kind : 'probe'
    const { target, fate, callId, method } = exchange
    this.#run.log(`${callId ?? method} > ${target.upstream}/${target.url} ${kind} ${wrongOf(fate)}`)
    checkSending(this, exchange)
    this.#tip.check()
    if (kind === 'hedge') checkHedges(this)
  }

  #requestEnded(exchange: Exchange): void {
    this.#open -= 1
    const { target, callId, method, isAborted, fate } = exchange
    this.#run.count('requests to upstreams')
    if (fate.kind !== 'honest') this.#run.count(`fault: ${wrongOf(fate)}`)
    const how = isAborted ? 'aborted' : 'ended'
    this.#run.log(`${callId ?? method} < ${target.upstream}/${target.url} ${how}`)
    checkExchange(this, exchange)
    this.#tip.ended(exchange)
  }

  get #isBusy(): boolean {
    for (const { endedMs, exchanges } of this.calls.values())
      if (endedMs === null || exchanges.some((each) => each.endedMs === null)) return true
    return this.calls.size < this.schedule.requests.length
  }

  /** In one schedule of sixteen, all healthy upstreams must serve after a time without faults. */
  async #recover(): Promise<void> {
    if (this.schedule.seed % 16 !== 0) return
    const lastMs = this.schedule.nodes
      .flatMap(({ urls }) => urls.flatMap(({ faults }) => faults))
      .reduce((latest, { untilMs }) => Math.max(latest, untilMs), 0)
    const faultlessMs = Math.min(Math.max(lastMs, this.clock.nowMs()), this.clock.nowMs() + 60_000)
    await this.clock.advance(faultlessMs + recoveryMs - this.clock.nowMs())
    checkRecovery(this)
  }

  #ended(client: ClientCall): void {
    this.#run.log(`${client.id} = ${outcomeOf(client)}`)
    this.#run.count(outcomeOf(client))
    checkEnding(this, client)
    this.floors.ended(client)
    this.#tip.check()
  }

  /** Records the engine's events. */
  #observers(): { readonly poolObserver: PoolObserver; readonly relayObserver: RelayObserver } {
    return {
      relayObserver: {
        attemptEnded() {},
        breakerChanged: (open) => this.#run.log(open ? 'breaker open' : 'breaker closed'),
      },
      poolObserver: {
        stateChanged: (upstream, from, { state, why }) =>
          this.#run.log(`${upstream}: ${from} to ${state}, ${why}`),
        cooldownBegan: (_, url, cooldownMs) => {
          const seat = this.seats.get(url)
          if (!seat) return
          const nowMs = this.clock.nowMs()
          seat.cooldownUntilMs = nowMs + cooldownMs
          seat.lastTrialMs = nowMs
          this.#run.log(`${url} in cooldown for ${cooldownMs} ms`)
        },
        verificationFailed: (_, url, verification, why) =>
          this.#run.log(`${url} fails ${verification}: ${why}`),
      },
    }
  }
}

/** The fault of a request; empty for none. */
function wrongOf(fate: Fate): string {
  if (fate.kind === 'honest') return ''
  return fate.kind === 'wrong' ? fate.wrong : fate.fault
}

/** The outcome of a call, for the trace and the counts. */
function outcomeOf({ outcome, call }: ClientCall): string {
  if (outcome === null) return 'never ended'
  if (outcome.kind === 'error') return outcome.error.kind.reason
  if (outcome.kind !== 'reply') return outcome.kind
  if (outcome.reply.refusal !== null) return 'node error'
  const last = call.journal.attempts.find(
    ({ upstream, result }) => upstream === outcome.reply.upstream && result === 'answer',
  )
  return last ? 'answer' : 'upstream error'
}
