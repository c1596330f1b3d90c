// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import { sleep } from '../clock/clock.ts'
import { FetchFailures, isTemporary, retryBackoff } from './ask.ts'
import type { Block, FetchLogs, Position } from './family.ts'
import { markRemoved } from './families/ethereum.ts'
import type { Sequence, SequenceListener, SequenceOptions } from './sequence.ts'
import type { Subscriber } from './subscriptions.ts'

/** Blocks that are asked about at the same time. */
const atOnce = 8
/** The logs of so many blocks are kept, for the case that a reorganisation removes them. */
const keptBlocks = 256

export interface LogsOptions extends Pick<
  SequenceOptions,
  'name' | 'clock' | 'random' | 'observer' | 'maxGapBlocks'
> {
  readonly filter: object
  readonly fetchLogs: FetchLogs
  readonly sequence: Pick<Sequence, 'upstream'>
}

/** A block whose logs are still to be sent. */
interface Pending {
  readonly position: Position
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
  readonly #listener: Subscriber
  readonly #pending: Pending[] = []
  /** What was sent of the last blocks. */
  readonly #sent: (readonly Uint8Array[])[] = []
  #hasForgotten = false
  #isClosed = false
  #isRunning = false

  constructor(options: LogsOptions, listener: Subscriber) {
    this.#options = options
    this.#listener = listener
  }

  appended({ number, id, parent }: Block): void {
    const { maxGapBlocks } = this.#options
    const position = { number, id, parent }
    this.#pending.push({ position, removed: new AbortController(), logs: null })
    if (this.#pending.length > maxGapBlocks + 1)
      return this.#end(`the events of more than ${maxGapBlocks} blocks could not be fetched`)
    this.#fetchNext()
    void this.#run()
  }

  removed(): void {
    const newest = this.#pending.pop()
    if (newest) return newest.removed.abort()
    const sent = this.#sent.pop()
    for (const log of sent?.toReversed() ?? []) this.#listener.event(markRemoved(log))
    if (!sent && this.#hasForgotten)
      this.#end(`a reorganisation goes deeper than ${keptBlocks} blocks`)
  }

  ended(reason: string): void {
    if (this.#isClosed) return
    this.close()
    this.#listener.ended(reason)
  }

  close(): void {
    this.#isClosed = true
    for (const { removed } of this.#pending) removed.abort()
    this.#pending.length = 0
    this.#sent.length = 0
  }

  /** Sends block by block; the logs of the next ones are asked for meanwhile. */
  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let first = this.#pending[0]; first; first = this.#pending[0]) {
      this.#fetchNext()
      const logs = await first.logs
      if (logs === null || this.#pending[0] !== first) continue
      this.#pending.shift()
      this.#sent.push(logs)
      if (this.#sent.length > keptBlocks) {
        this.#sent.shift()
        this.#hasForgotten = true
      }
      for (const log of logs) this.#listener.event(log)
    }
    this.#isRunning = false
  }

  #fetchNext(): void {
    for (const block of this.#pending.slice(0, atOnce)) block.logs ??= this.#fetch(block)
  }

  /** Asks until there is an answer. Never rejects. @returns null when it is not wanted any more */
  async #fetch({ position, removed }: Pending): Promise<readonly Uint8Array[] | null> {
    const { fetchLogs, filter, sequence, observer, name, clock, random } = this.#options
    const { signal } = removed
    const backoff = new Backoff(retryBackoff, random)
    const failures = new FetchFailures()
    try {
      // The upstream that reported the block has it; when that one fails, the pool chooses.
      for (let prefer = sequence.upstream; ; prefer = null)
        try {
          return await fetchLogs(position, filter, prefer, signal)
        } catch (error) {
          if (signal.aborted || !isTemporary(error)) throw error
          const { forMs, isOver } = failures.add(error, clock.nowMs())
          observer.fetchFailed(name, forMs, error.message)
          if (isOver) this.#end(`the events of block ${position.number} could not be fetched`)
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
