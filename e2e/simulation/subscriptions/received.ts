// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainModel } from '../../upstream-sim/chain-model.ts'
import { fitsFilter, type LogFilter } from '../../upstream-sim/log-filter.ts'
import { headOf } from '../../upstream-sim/node-events.ts'
import type { Log } from '../../upstream-sim/block-builder.ts'

/** Receives a violation of a rule: `once`, `in-order`, `no-hole` or `true`. */
type Report = (rule: string, what: string) => void

/** Checks the events of one client against the chain, on arrival and at the end. */
export abstract class Received<Item extends { readonly number: number } = { number: number }> {
  count = 0
  /** Received and not removed. */
  protected readonly items: Item[] = []
  protected readonly chain: ChainModel
  protected readonly report: Report

  constructor(chain: ChainModel, report: Report) {
    this.chain = chain
    this.report = report
  }

  /** Number of the newest received block; null for none. */
  get newest(): number | null {
    return this.items.at(-1)?.number ?? null
  }

  abstract event(text: string): void

  /** At the end, the client must have received all blocks from `from` to `to`. */
  abstract checkWhole(from: number, to: number): void
}

interface HeadEvent {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}

/** A client of `newHeads`. */
export class ReceivedHeads extends Received<{ readonly number: number; readonly hash: string }> {
  #first: number | null = null

  event(text: string): void {
    this.count += 1
    const { number: hex, hash, parentHash } = JSON.parse(text) as HeadEvent
    const number = Number(hex)
    const found = this.chain.find(hash)
    if (!found || JSON.stringify(headOf(found.mined.block)) !== text)
      this.report('true', `no node has this head: ${text}`)
    this.#first ??= number
    while ((this.newest ?? -1) >= number) {
      if (this.items.pop()?.hash === hash) this.report('once', `block ${number} arrived twice`)
    }
    const parent = this.items.at(-1)
    if (parent && parent.number < number - 1)
      this.report('no-hole', `block ${number} arrived after ${parent.number}`)
    else if (parent && parent.hash !== parentHash)
      this.report('in-order', `block ${number} arrived without its parent`)
    else if (!parent && number > this.#first)
      this.report('no-hole', `block ${number} arrived without those before`)
    this.items.push({ number, hash })
  }

  checkWhole(from: number, to: number): void {
    const received = new Map(this.items.map(({ number, hash }) => [number, hash]))
    for (let number = from; number <= to; number++)
      if (received.get(number) !== this.chain.block(number).hash)
        this.report('no-hole', `block ${number} of ${from} to ${to} is missing`)
  }
}

interface ReceivedLog {
  readonly key: string
  readonly number: number
  readonly index: number
}

type LogEvent = Omit<Log, 'removed'> & { readonly removed: boolean }

/** A client of `logs`. */
export class ReceivedLogs extends Received<ReceivedLog> {
  readonly #filter: LogFilter | undefined
  readonly #keys = new Set<string>()
  #first = Infinity

  constructor(chain: ChainModel, filter: LogFilter | undefined, report: Report) {
    super(chain, report)
    this.#filter = filter
  }

  event(text: string): void {
    this.count += 1
    const log = JSON.parse(text) as LogEvent
    const key = keyOf(log)
    const number = Number(log.blockNumber)
    const index = Number(log.logIndex)
    const newest = this.items.at(-1)
    if (log.removed) {
      // Like a node, the router also removes logs from before this client's subscription.
      if (newest === undefined && number <= this.#first) return
      if (newest?.key !== key) this.report('in-order', `log ${key} was removed, not the newest`)
      else this.items.pop()
      this.#keys.delete(key)
      return
    }
    this.#checkTrue(log, text)
    if (this.#keys.has(key)) this.report('once', `log ${key} arrived twice`)
    else if (newest && (newest.number - number || newest.index - index) >= 0)
      this.report('in-order', `log ${key} arrived after ${newest.key}`)
    this.#first = Math.min(this.#first, number)
    this.#keys.add(key)
    this.items.push({ key, number, index })
  }

  checkWhole(from: number, to: number): void {
    const wanted: string[] = []
    for (let number = from; number <= to; number++)
      for (const log of logsOf(this.chain, number))
        if (fitsFilter(log, this.#filter)) wanted.push(keyOf(log))
    const logs = this.items
      .filter(({ number }) => number >= from && number <= to)
      .map(({ key }) => key)
    const at = wanted.findIndex((key, index) => key !== logs[index])
    if (at >= 0) this.report('no-hole', `log ${wanted[at]} is missing; its place has ${logs[at]}`)
    else if (logs.length > wanted.length)
      this.report('once', `log ${logs[wanted.length]} was never removed`)
  }

  #checkTrue(log: LogEvent, text: string): void {
    const { mined } = this.chain.find(log.blockHash) ?? {}
    const real = mined?.receipts.flatMap(({ logs }) => logs)[Number(log.logIndex)]
    if (!real || JSON.stringify(real) !== text || !fitsFilter(real, this.#filter))
      this.report('true', `no node has this log: ${text}`)
  }
}

function logsOf(chain: ChainModel, number: number): readonly Log[] {
  return chain.block(number).receipts.flatMap(({ logs }) => logs)
}

function keyOf({ blockHash, logIndex }: Pick<Log, 'blockHash' | 'logIndex'>): string {
  return `${blockHash} ${logIndex}`
}
