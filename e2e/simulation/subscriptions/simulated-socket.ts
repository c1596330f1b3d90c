// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../../proxy/clock/cancellation.ts'
import type { Cancel, Clock } from '../../../proxy/clock/clock.ts'
import {
  TransportError,
  type SocketTransport,
  type SubscriptionListener,
  type UpstreamSubscription,
} from '../../../proxy/upstream/transport.ts'
import type { Incoming, Outgoing } from '../../../proxy/upstream/wire.ts'
import type { ChainModel } from '../../upstream-sim/chain-model.ts'
import { ChainView } from '../../upstream-sim/chain-view.ts'
import { headOf, isOfTopic, NodeEvents, resultOf } from '../../upstream-sim/node-events.ts'
import type { Dice } from '../dice.ts'
import type { SocketAilment, SocketPlan } from './schedule.ts'

/** One subscription that the router has at a node. */
interface Held {
  readonly id: string
  readonly params: readonly unknown[]
  listener: SubscriptionListener | null
  /** What came before somebody listened. */
  kept: Uint8Array[]
}

/** What the sockets of one simulation share. */
export interface SocketWire {
  readonly clock: Clock
  readonly chain: ChainModel
  /** The branch that a node is on; null for the canonical one. */
  branchOf(name: string): number | null
  say(event: string): void
}

/** A node's WebSocket URL in virtual time. */
export class SimulatedSocket implements SocketTransport {
  readonly held = new Set<Held>()
  readonly #name: string
  readonly #plan: SocketPlan
  readonly #wire: SocketWire
  readonly #dice: Dice
  readonly #view: ChainView
  readonly #events: NodeEvents
  readonly #timers: Cancel[]
  #nextId = 1
  #asked = 0

  constructor(name: string, plan: SocketPlan, wire: SocketWire, dice: Dice) {
    this.#name = name
    this.#plan = plan
    this.#wire = wire
    this.#dice = dice
    this.#view = new ChainView(wire.chain, {
      lagBlocks: plan.lagBlocks,
      frozenAt: null,
      earliestBlock: 0,
      earliestState: 0,
      maxLogRangeBlocks: 2_000,
      clientVersion: '',
    })
    this.#events = new NodeEvents(this.#view)
    this.#timers = plan.ailments.flatMap((ailment) => [
      wire.clock.after(ailment.fromMs, () => {
        if (ailment.kind === 'down') this.#cut()
        else this.happened()
      }),
      wire.clock.after(ailment.untilMs, () => {
        this.happened()
      }),
    ])
  }

  /** The chain, or the node's view of it, may have changed. */
  happened(): void {
    const ills = this.#ills()
    const lag = ills.reduce((sum, each) => sum + (each.kind === 'lag' ? each.blocks : 0), 0)
    this.#view.settings.lagBlocks = this.#plan.lagBlocks + lag
    this.#view.settings.branch = this.#wire.branchOf(this.#name)
    const events = this.#events.next()
    if (events.length === 0 || ills.some(({ kind }) => kind === 'stall')) return
    for (const event of events) {
      const result = Buffer.from(JSON.stringify(resultOf(event)))
      for (const held of this.held) if (isOfTopic(event, held.params)) this.#send(held, result)
    }
    this.#lie(ills)
  }

  send(): Promise<Incoming> {
    return Promise.reject(new TransportError('protocol', 'only for subscriptions'))
  }

  subscribe(request: Outgoing, signal: CancelSignal): Promise<UpstreamSubscription> {
    const { params } = readBody(request)
    const { clock, say } = this.#wire
    this.#asked += 1
    if (this.#asked > 5_000) throw new Error('it subscribes without end')
    return new Promise((resolve, reject) => {
      const takeBack = () => {
        cancel()
        reject(new TransportError('aborted', 'taken back'))
      }
      signal.addEventListener('abort', takeBack, { once: true })
      const answer = () => {
        const ills = this.#ills()
        if (ills.some(({ kind }) => kind === 'mute')) return
        signal.removeEventListener('abort', takeBack)
        if (ills.some(({ kind }) => kind === 'down'))
          return reject(new TransportError('refused', 'simulated', false))
        const refusal = ills.find((each) => each.kind === 'refuse')
        say(`${this.#name} subscribed ${JSON.stringify(params)}${refusal ? ' refused' : ''}`)
        if (refusal) {
          const { code, message } = refusal
          const error = { jsonrpc: '2.0', id: 1, error: { code, message } }
          return resolve({ reply: replyOf(error), listen() {}, close() {} })
        }
        resolve(this.#hold(params))
      }
      const cancel = clock.after(2 * this.#plan.delayMs, answer)
    })
  }

  close(): Promise<void> {
    for (const cancel of this.#timers) cancel()
    return Promise.resolve()
  }

  #hold(params: readonly unknown[]): UpstreamSubscription {
    const held: Held = { id: `0x${this.#nextId++}`, params, listener: null, kept: [] }
    this.held.add(held)
    return {
      reply: replyOf({ jsonrpc: '2.0', id: 1, result: held.id }),
      listen: (listener) => {
        held.listener = listener
        for (const result of held.kept) listener.event(result)
        held.kept = []
      },
      close: (unsubscribe) => {
        if (!this.held.delete(held)) return
        held.listener = null
        const asked = unsubscribe && readBody(unsubscribe)
        if (asked?.method !== 'eth_unsubscribe' || asked.params[0] !== held.id)
          throw new Error('it did not unsubscribe')
      },
    }
  }

  #send(held: Held, result: Uint8Array): void {
    const ills = this.#ills()
    let delayMs = this.#plan.delayMs
    let times = 1
    for (const ill of ills) {
      if (ill.kind === 'drop' && this.#dice.chance(ill.share)) return
      if (ill.kind === 'duplicate' && this.#dice.chance(ill.share)) times = 2
      if (ill.kind === 'disorder' && this.#dice.chance(ill.share)) delayMs += ill.lateMs
    }
    for (let time = 0; time < times; time++)
      this.#wire.clock.after(delayMs, () => {
        if (!this.held.has(held)) return
        if (held.listener) held.listener.event(result)
        else held.kept.push(result)
      })
  }

  #lie(ills: readonly SocketAilment[]): void {
    for (const ill of ills) {
      if (ill.kind === 'lie') this.#tellHead(this.#lieText(ill.lie))
      if (ill.kind === 'repeat') {
        const old = Math.max(0, this.#view.head - this.#dice.whole(1, ill.blocks))
        this.#tellHead(JSON.stringify(headOf(this.#view.at(old).block)))
      }
    }
  }

  #tellHead(text: string): void {
    const result = Buffer.from(text)
    for (const held of this.held) if (held.params[0] === 'newHeads') this.#send(held, result)
  }

  #lieText(lie: 'orphan' | 'far-ahead' | 'garbage'): string {
    if (lie === 'garbage') return '{"number":"0xzz"}'
    const ahead = lie === 'orphan' ? this.#dice.whole(1, 3) : 1_000_000
    const hash = () => `0x${String(Math.floor(this.#dice.next() * 1e15)).padStart(64, '0')}`
    const number = `0x${(this.#view.head + ahead).toString(16)}`
    return JSON.stringify({ number, hash: hash(), parentHash: hash() })
  }

  #cut(): void {
    const lost = [...this.held]
    this.held.clear()
    for (const { listener } of lost) listener?.lost(new TransportError('reset', 'simulated'))
  }

  #ills(): readonly SocketAilment[] {
    const nowMs = this.#wire.clock.nowMs()
    return this.#plan.ailments.filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs)
  }
}

function readBody({ body }: Outgoing): { method: string; params: readonly unknown[] } {
  return JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
    method: string
    params: readonly unknown[]
  }
}

function replyOf(document: object): Incoming {
  const body = Buffer.from(JSON.stringify(document))
  return { status: 200, headers: [], body, trailers: () => [] }
}
