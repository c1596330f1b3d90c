// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { EventLoopPacer } from '../bytes/event-loop-pacer.ts'
import { Backoff } from '../clock/backoff.ts'
import { sleep } from '../clock/clock.ts'
import { readLogFilter, type LogFilter } from '../integrity/logs.ts'
import { FetchFailures, isTemporary, retryBackoff } from './ask.ts'
import type { Block, LogSource } from './family.ts'
import { markRemoved } from './ethereum/ethereum.ts'
import type { Sequence, SequenceListener, SequenceOptions } from './sequence.ts'
import type { Subscriber, Position } from './subscriptions.ts'

/** Blocks whose logs are fetched concurrently. */
const atOnce = 8
/** Cost of one event to the pacer, which then sends about a thousand per turn. */
const eventBytes = 1024
/** Number of blocks whose logs are retained, because a reorg may remove them. */
const retainedBlocks = 256

export interface LogsOptions extends Pick<
  SequenceOptions,
  'name' | 'clock' | 'random' | 'observer' | 'maxGapBlocks'
> {
  readonly turns: EventLoopPacer
  readonly filter: object
  readonly source: LogSource
  readonly sequence: Pick<Sequence, 'upstream'>
}

/** A block whose logs have not been sent yet. */
interface Pending {
  readonly block: Block
  readonly removed: AbortController
  /** Null before the request. Resolves to null if the logs are no longer needed. */
  logs: Promise<readonly Uint8Array[] | null> | null
}

/**
 * Sends the logs that match a filter, in block order, without gaps or duplicates. Logs of a
 * replaced block are sent again with `removed: true`.
 */
export class LogsTopic implements SequenceListener {
  readonly #options: LogsOptions
  readonly #filter: LogFilter
  readonly #listener: Subscriber
  readonly #pending: Pending[] = []
  /** Sent logs by block number; blocks without logs are absent. */
  readonly #sent = new Map<number, readonly Uint8Array[]>()
  /** The newest block whose logs are no longer retained. */
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
      return this.#end(`a reorganisation goes deeper than ${retainedBlocks} blocks`)
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

  /** Sends logs block by block, while it fetches those of the next blocks. */
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
      if (this.#sent.delete(number - retainedBlocks)) this.#forgotten = number - retainedBlocks
      for (const log of logs) this.#listener.event(log)
    }
    this.#isRunning = false
  }

  /** Paces delivery, because thousands of filters may match logs of the same block. */
  #turn(events: number): Promise<void> {
    return new Promise((resolve) => this.#options.turns.run(events * eventBytes, resolve))
  }

  #fetchNext(): void {
    for (const block of this.#pending.slice(0, atOnce)) block.logs ??= this.#fetch(block)
  }

  /** Retries until there is an answer. Never rejects. @returns null if the logs are obsolete */
  async #fetch({ block, removed }: Pending): Promise<readonly Uint8Array[] | null> {
    const { source, sequence, observer, name, clock, random } = this.#options
    const { signal } = removed
    const backoff = new Backoff(retryBackoff, random)
    const failures = new FetchFailures()
    try {
      // The upstream that reported the block has it. If that upstream fails, the pool selects one.
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
