// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Arena, type ClientCall, type Exchange, exchangeOf } from './arena.ts'
import type { RequestPlan } from './schedule.ts'

/** A call waits for a floor that is at most this far above the highest head. */
const maxAheadBlocks = 1_000
/** The longest wait for heads after an idle period. */
export const maxWakeMs = 1_000
/** A chain may grow by this many blocks between two reports. */
export const maxGrowth = 10

/** How long a call waits for the block of its floor. */
export function floorWaitMs({ chain }: Arena['schedule']): number {
  return Math.max(2 * chain.blockTimeMs, 1_000)
}

/** The number that replaced `latest`, or the node's head if none did. Null without the tag. */
export function requestedBlock(
  { question }: ClientCall,
  { params, head }: Exchange,
): number | null {
  const at = JSON.stringify(question.params).indexOf('latest')
  return at < 0 ? null : Number.parseInt(JSON.stringify(params).slice(at), 16) || head
}

/** Records the blocks that clients have seen, and checks that no later answer is older. */
export class FloorWatch {
  readonly #arena: Arena
  /** The highest block that each client has seen. */
  readonly #seen = new Map<number, number>()
  /** The highest number of a latest block that a node returned. */
  #newest = { block: 0, atMs: -Infinity }
  /** The tip at the last check. */
  #tip = 0

  constructor(arena: Arena) {
    this.#arena = arena
  }

  floorOf({ client, floor }: RequestPlan): number | null {
    if (floor === 'seen') return this.#seen.get(client) ?? null
    return floor === null ? null : this.#arena.chain.head + floor
  }

  /** After a deep fall of the tip, the router restarts from there. */
  followTip(): void {
    const { tip } = this.#arena.pool
    if (tip === null) return
    // The last tip may be above every number that a client has seen.
    if (this.#isDeep(Math.max(this.#newest.block, this.#tip), tip)) this.#newest.atMs = -Infinity
    this.#tip = tip
  }

  ended(client: ClientCall): void {
    const { outcome, plan, call } = client
    this.followTip()
    if (outcome?.kind === 'error' && outcome.error.kind.reason === 'min-block')
      this.#checkWait(client)
    const exchange = exchangeOf(this.#arena, client)
    if (outcome?.kind !== 'reply' || exchange?.fate.kind !== 'honest' || exchange.isError) return
    const number = numberIn(client)
    if (call.method.kind !== 'write') this.#checkFloor(client, exchange, number)
    if (plan.method === 'eth_blockNumber') this.#checkNumber(client, exchange, number)
    const { latestBlock } = outcome.reply
    const seen = Math.max(this.#seen.get(plan.client) ?? 0, latestBlock ?? 0, number)
    this.#seen.set(plan.client, seen)
  }

  /** The answer is not below the floor, and its node has the floor unless its head may fall. */
  #checkFloor(client: ClientCall, exchange: Exchange, number: number): void {
    const { seats, report } = this.#arena
    const floor = client.call.directives.minBlock ?? 0
    const { upstream } = exchange.target
    const where = `${client.id} ${client.plan.method} with floor ${floor}`
    const isNumber = client.plan.method === 'eth_blockNumber'
    const shown = isNumber ? number : (requestedBlock(client, exchange) ?? floor)
    if (shown < floor && !(isNumber && this.#isDeep(floor, shown)))
      report('floor-is-kept', `${where} shows ${shown} of ${upstream}`)
    const plans = [...seats.values()].filter(({ upstream: { name } }) => name === upstream)
    const mayFall = plans.length > 1 || plans[0]!.plan.faults.some(({ kind }) => kind === 'lag')
    if (exchange.head < floor && !mayFall)
      report('floor-is-kept', `${where} is answered by ${upstream} at ${exchange.head}`)
  }

  /** A call fails for its floor after the full wait, or at once if every head is far behind. */
  #checkWait({ call, id, plan, startedMs, deadlineMs }: ClientCall): void {
    const { schedule, clock, pool, report } = this.#arena
    const floor = call.directives.minBlock ?? 0
    const upstreams = pool.upstreams.filter(({ name }) => !plan.blockProviders.includes(name))
    const isFar = upstreams.every(({ latest }) => latest && latest.block < floor - maxAheadBlocks)
    const wasFar = isFar && upstreams.every(({ latest }) => latest && latest.roseMs <= startedMs)
    const [leastMs, mostMs] = [isFar ? 0 : floorWaitMs(schedule), floorWaitMs(schedule)]
    const tookMs = clock.nowMs() - startedMs
    if (clock.nowMs() >= deadlineMs) return
    if (tookMs < leastMs - 1 || tookMs > (wasFar ? maxWakeMs : mostMs) + 1)
      report('floor-is-kept', `${id} with floor ${floor} failed after ${tookMs} ms`)
  }

  /** Without a reorg, the latest block's number does not fall soon after a node returned it. */
  #checkNumber({ id, plan }: ClientCall, { head }: Exchange, number: number): void {
    const { clock, schedule, report } = this.#arena
    const nowMs = clock.nowMs()
    const { blockTimeMs, reorgs } = schedule.chain
    if (plan.selectProvider !== null || reorgs.some(({ atMs }) => atMs <= nowMs)) return
    const { block, atMs } = this.#newest
    const recentMs = nowMs - Math.max(3 * blockTimeMs, 3_000)
    const isRecent = atMs > recentMs
    // The router verifies a URL whose head jumped, and discards its earlier reports.
    const hasJumped = this.#arena.pool.upstreams.some(({ urls }) =>
      urls.some(({ jumpedMs }) => jumpedMs > recentMs),
    )
    if (number < block && isRecent && !hasJumped && !this.#isDeep(block, number))
      report('never-older-than-shown', `${id} got ${number} after ${block}`)
    if (head >= block) this.#newest = { block: head, atMs: nowMs }
  }

  /** Whether a fall is deeper than a chain may grow: the router then distrusts the higher head. */
  #isDeep(from: number, to: number): boolean {
    return from - to > this.#arena.allowedLagBlocks + maxGrowth
  }
}

/** The latest block's number in a result, or that of a receipt's block; 0 in others. */
function numberIn({ plan, outcome }: ClientCall): number {
  const body = outcome?.kind === 'reply' ? outcome.reply.incoming.body : null
  if (!/^eth_(?:blockNumber|getTransactionReceipt)$/.test(plan.method)) return 0
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : ''
  return Number(/"(?:result|blockNumber)":"(0x\w+)"/.exec(text)?.[1] ?? 0)
}
