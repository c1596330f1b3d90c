// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../../../proxy/clock/clock.ts'
import { TestSocket } from '../../../proxy/subscription/testing/test-socket.ts'
import type { ChainModel } from '../../upstream-sim/chain-model.ts'
import { ChainView } from '../../upstream-sim/chain-view.ts'
import { headOf, isOfTopic, NodeEvents, resultOf } from '../../upstream-sim/node-events.ts'
import type { Dice } from '../dice.ts'
import type { SocketFault, SocketPlan } from './schedule.ts'

/** Shared by the sockets of one simulation. */
export interface SocketWire {
  readonly clock: Clock
  readonly chain: ChainModel
  /** The branch of a node; null for the canonical branch. */
  branchOf(name: string): number | null
}

type Held = TestSocket['held'] extends Set<infer Each> ? Each : never

/** A node's WebSocket URL in virtual time. */
export class SimulatedSocket extends TestSocket {
  readonly #name: string
  readonly #plan: SocketPlan
  readonly #wire: SocketWire
  readonly #dice: Dice
  readonly #view: ChainView
  readonly #events: NodeEvents
  readonly #timers: Cancel[]

  constructor(name: string, plan: SocketPlan, wire: SocketWire, dice: Dice) {
    super(wire.clock)
    this.#name = name
    this.#plan = plan
    this.#wire = wire
    this.#dice = dice
    this.#view = new ChainView(wire.chain, { lagBlocks: plan.lagBlocks })
    this.#events = new NodeEvents(this.#view)
    this.#timers = plan.faults.flatMap(({ kind, fromMs, untilMs }) => [
      wire.clock.after(fromMs, () => {
        if (kind === 'down') this.cut()
        this.happened()
      }),
      wire.clock.after(untilMs, () => this.happened()),
    ])
  }

  /** Call it when the chain, the node's view or the socket's faults may have changed. */
  happened(): void {
    if (this.requests.length > 10_000) throw new Error('the router subscribes endlessly')
    const faults = this.#faults()
    const lag = faults.reduce((sum, each) => sum + (each.kind === 'lag' ? each.blocks : 0), 0)
    this.#view.settings.lagBlocks = this.#plan.lagBlocks + lag
    this.#view.settings.branch = this.#wire.branchOf(this.#name)
    const has = (kind: SocketFault['kind']) => faults.some((each) => each.kind === kind)
    const refusal = faults.find((each) => each.kind === 'refuse')?.error
    this.answer = has('mute') ? 'never' : has('down') ? 'refused' : (refusal ?? 'yes')
    const events = this.#events.next()
    if (events.length === 0 || has('stall')) return
    for (const event of events) {
      const result = JSON.stringify(resultOf(event))
      for (const held of this.held)
        if (isOfTopic(event, held.params as readonly unknown[])) this.#send(held, result, faults)
    }
    for (const fault of faults) {
      if (fault.kind === 'untrue-head') this.#sendHead(this.#untrueHead(fault.head), faults)
      if (fault.kind === 'repeat') {
        const old = Math.max(0, this.#view.head - this.#dice.whole(1, fault.blocks))
        this.#sendHead(JSON.stringify(headOf(this.#view.at(old).block)), faults)
      }
    }
  }

  override close(): Promise<void> {
    for (const cancel of this.#timers) cancel()
    return super.close()
  }

  #send(held: Held, text: string, faults: readonly SocketFault[]): void {
    let { delayMs } = this.#plan
    let times = 1
    for (const fault of faults) {
      if (fault.kind === 'drop' && this.#dice.chance(fault.share)) return
      if (fault.kind === 'duplicate' && this.#dice.chance(fault.share)) times = 2
      if (fault.kind === 'disorder' && this.#dice.chance(fault.share)) delayMs += fault.lateMs
    }
    for (let time = 0; time < times; time++)
      this.#wire.clock.after(delayMs, () => held.listener?.event(Buffer.from(text)))
  }

  #sendHead(text: string, faults: readonly SocketFault[]): void {
    for (const held of this.held)
      if (String(held.params) === 'newHeads') this.#send(held, text, faults)
  }

  #untrueHead(kind: 'orphan' | 'far-ahead' | 'garbage'): string {
    if (kind === 'garbage') return '{"number":"0xzz"}'
    const ahead = kind === 'orphan' ? this.#dice.whole(1, 3) : 1_000_000
    const hash = () => `0x${String(Math.floor(this.#dice.next() * 1e15)).padStart(64, '0')}`
    const number = `0x${(this.#view.head + ahead).toString(16)}`
    return JSON.stringify({ number, hash: hash(), parentHash: hash() })
  }

  #faults(): readonly SocketFault[] {
    const nowMs = this.#wire.clock.nowMs()
    return this.#plan.faults.filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs)
  }
}
