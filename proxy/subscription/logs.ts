// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { EventLoopPacer } from '../bytes/event-loop-pacer.ts'
import { Backoff } from '../clock/backoff.ts'
import { sleep } from '../clock/clock.ts'
import { readLogFilter, type LogFilter } from '../integrity/logs.ts'
import { FetchFailures, isTemporary, retryBackoff } from './ask.ts'
import type { Block, Position } from './family.ts'
import { markRemoved, type EthereumLogs } from './families/ethereum.ts'
import type { Sequence, SequenceListener, SequenceOptions } from './sequence.ts'
import type { Subscriber } from './subscriptions.ts'

/** Blocks that are asked about at the same time. */
const atOnce = 8
/** What one takes of a turn, which sends a thousand of them. */
const eventBytes = 1024
/** The logs of so many blocks are kept, for the case that a reorganisation removes them. */
const keptBlocks = 256

export interface LogsOptions extends Pick<
  SequenceOptions,
  'name' | 'clock' | 'random' | 'observer' | 'maxGapBlocks'
> {
  readonly turns: EventLoopPacer
  readonly filter: object
  readonly source: EthereumLogs
  readonly sequence: Pick<Sequence, 'upstream'>
}

/** A block whose logs are still to be sent. */
interface Pending {
  readonly block: Block
  readonly removed: AbortController
  /** Asked for already. Null when it is not wanted any more. */
  logs: Promise<readonly Uint8Array[] | null> | null
}

/**
 * Sends the logs of each block of a sequence that fit a filter: in the blocks' order, all, once. Those
 * of a block that is replaced are sent again with `removed: true`.
 */
export class LogsTopic implements SequenceListener {
  readonly #options: LogsOptions
  readonly #filter: LogFilter
  readonly #listener: Subscriber
  readonly #pending: Pending[] = []
  /** By the number of the block, where anything was sent. */
  readonly #sent = new Map<number, readonly Uint8Array[]>()
  /** The newest block that it is not kept of any more. */
  #forgotten = -1
  #isClosed = false
  #isRunning = false

  constructor(options: LogsOptions, listener: Subscriber) {
    this.#options = options
    this.#filter = readLogFilter(options.filter, { kind: 'none' })
    this.#listener = listener
    options.source.filters += 1
  }

  appended(block: Block): void {
    const { maxGapBlocks } = this.#options
    this.#pending.push({ block, removed: new AbortController(), logs: null })
    if (this.#pending.length > maxGapBlocks + 1)
      return this.#end(`the events of more than ${maxGapBlocks} blocks could not be fetched`)
    this.#fetchNext()
    void this.#run()
  }

  removed({ number }: Position): void {
    const newest = this.#pending.pop()
    if (newest) return newest.removed.abort()
    if (number <= this.#forgotten)
      return this.#end(`a reorganisation goes deeper than ${keptBlocks} blocks`)
    for (const log of this.#sent.get(number)?.toReversed() ?? [])
      this.#listener.event(markRemoved(log))
    this.#sent.delete(number)
  }

  ended(reason: string): void {
    if (this.#isClosed) return
    this.close()
    this.#listener.ended(reason)
  }

  close(): void {
    if (!this.#isClosed) this.#options.source.filters -= 1
    this.#isClosed = true
    for (const { removed } of this.#pending) removed.abort()
    this.#pending.length = 0
    this.#sent.clear()
  }

  /** Sends block by block; the logs of the next ones are asked for meanwhile. */
  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let first = this.#pending[0]; first; first = this.#pending[0]) {
      this.#fetchNext()
      const logs = await first.logs
      if (logs && logs.length > 0) await this.#turn(logs.length)
      if (logs === null || this.#pending[0] !== first) continue
      this.#pending.shift()
      const { number } = first.block
      if (logs.length > 0) this.#sent.set(number, logs)
      if (this.#sent.delete(number - keptBlocks)) this.#forgotten = number - keptBlocks
      for (const log of logs) this.#listener.event(log)
    }
    this.#isRunning = false
  }

  /** Thousands of filters may have logs of the same block. */
  #turn(events: number): Promise<void> {
    return new Promise((resolve) => this.#options.turns.run(events * eventBytes, resolve))
  }

  #fetchNext(): void {
    for (const block of this.#pending.slice(0, atOnce)) block.logs ??= this.#fetch(block)
  }

  /** Asks until there is an answer. Never rejects. @returns null when it is not wanted any more */
  async #fetch({ block, removed }: Pending): Promise<readonly Uint8Array[] | null> {
    const { source, sequence, observer, name, clock, random } = this.#options
    const { signal } = removed
    const backoff = new Backoff(retryBackoff, random)
    const failures = new FetchFailures()
    try {
      // The upstream that reported the block has it; when that one fails, the pool chooses.
      for (let prefer = sequence.upstream; ; prefer = null)
        try {
          return await source.fetch(block, this.#filter, { prefer, signal })
        } catch (error) {
          if (signal.aborted || !isTemporary(error)) throw error
          const { forMs, isOver } = failures.add(error, clock.nowMs())
          observer.fetchFailed(name, forMs, error.message)
          if (isOver) this.#end(`the events of block ${block.number} could not be fetched`)
          await sleep(clock, backoff.next(), signal)
        }
    } catch (error) {
      if (signal.aborted) return null
      observer.failed(name, error)
      this.ended('internal error')
      return null
    }
  }

  #end(reason: string): void {
    this.#options.observer.ended(this.#options.name, reason)
    this.ended(reason)
  }
}
