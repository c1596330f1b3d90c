// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import { within } from '../clock/cancellation.ts'
import type { Cancel } from '../clock/clock.ts'
import type { Pool } from '../upstream/pool.ts'
import { BackfillError, FetchFailures, isTemporary, retryBackoff } from './ask.ts'
import { History, type Block, type ChainReader, type Path } from './family.ts'
import { Feed, type FeedListener, type FeedOptions } from './feed.ts'
import { type Position } from './subscriptions.ts'

/** Lagging upstreams may explain one event that does not connect, but not this many in a row. */
const maxUnusable = 3
/** How long to wait for the block after which the sequence begins. */
const beginMs = 3_000
/** Number of events that may wait while blocks are fetched. Dropped ones are fetched later. */
const maxWaiting = 16

export interface SequenceOptions extends Omit<FeedOptions, 'request'> {
  readonly reader: ChainReader
  readonly pool: Pick<Pool, 'tip'>
  readonly maxGapBlocks: number
}

/** Receives a chain block by block, each once and in order. */
export interface SequenceListener {
  appended(block: Block): void
  /** A reorg replaced the block. The newest block comes first; the replacements follow. */
  removed(position: Position): void
  /** The sequence cannot continue without a gap. */
  ended(reason: string): void
}

interface Observed {
  readonly block: Block
  /** Whether this came from a request for the latest block, which may be below the tip. */
  readonly isLatest: boolean
}

/**
 * Builds one gapless sequence from the events of several sources. It drops known blocks, backfills
 * missing ones, and starts a new branch at its fork.
 */
export class Sequence {
  /** Resolves once the start is known. Rejects with a NodeRefused or a RelayError. */
  readonly opened: Promise<void>
  readonly #options: SequenceOptions
  readonly #feed: Feed
  readonly #history: History
  readonly #backoff: Backoff
  readonly #failures = new FetchFailures()
  readonly #listeners = new Set<SequenceListener>()
  readonly #closing = new AbortController()
  #waiting: Observed[] = []
  readonly #knowsStart = Promise.withResolvers<void>()
  #hasBegun = false
  #isRunning = false
  #unusable = 0
  #cancelRetry: Cancel = () => {}

  constructor(options: SequenceOptions) {
    this.#options = options
    this.#history = new History(options.maxGapBlocks + 1)
    this.#backoff = new Backoff(retryBackoff, options.random)
    const listener: FeedListener = {
      event: (event) => this.#received(event),
      moved: () => void this.#catchUp(),
    }
    this.#feed = new Feed({ ...options, request: options.reader.request }, listener)
    this.opened = this.#open()
  }

  async #open(): Promise<void> {
    await this.#feed.open()
    await this.#begin()
    this.#hasBegun = true
    void this.#run()
    await this.#knowsStart.promise
    this.#closing.signal.throwIfAborted()
  }

  attach(listener: SequenceListener): void {
    this.#listeners.add(listener)
  }

  /** @returns whether any listener is left */
  detach(listener: SequenceListener): boolean {
    this.#listeners.delete(listener)
    return this.#listeners.size > 0
  }

  /** The upstream that delivers events; null while there is none. */
  get upstream(): string | null {
    return this.#feed.upstream
  }

  get origin(): string {
    return this.#feed.origin
  }

  close(): void {
    this.#closing.abort()
    this.#knowsStart.resolve()
    this.#cancelRetry()
    this.#feed.close()
    this.#listeners.clear()
    this.#waiting = []
  }

  /**
   * The current latest block is not sent, because clients get the blocks after it. If no upstream
   * answers in time, clients begin with the first event, or after the first answer.
   */
  async #begin(): Promise<void> {
    const { reader, clock } = this.#options
    const latest = (signal: AbortSignal) => reader.latest(this.#feed.upstream, signal, true)
    const tooLate = () => new BackfillError(`no latest block in ${beginMs} ms`)
    try {
      this.#remember(await within(clock, this.#closing.signal, beginMs, latest, tooLate))
    } catch (error) {
      if (!isTemporary(error)) throw error
      this.#retryLater()
    }
  }

  #received(event: Uint8Array): void {
    const block = this.#options.reader.read(event)
    if (block === null) return this.#unusableEvent('its events cannot be understood')
    this.#observe({ block, isLatest: false })
  }

  #observe(observed: Observed): void {
    this.#waiting.push(observed)
    if (this.#waiting.length > maxWaiting) this.#waiting.shift()
    void this.#run()
  }

  /** Processes the observed blocks one at a time. */
  async #run(): Promise<void> {
    if (this.#isRunning || !this.#hasBegun) return
    this.#isRunning = true
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift())
        await this.#follow(next)
    } catch (error) {
      if (this.#closing.signal.aborted) return
      this.#options.observer.failed(this.#options.name, error)
      this.#end('internal error')
    } finally {
      this.#isRunning = false
    }
  }

  async #follow(observed: Observed): Promise<void> {
    const { block, isLatest } = observed
    const { observer, name, reader } = this.#options
    const { tip } = this.#history
    // Nothing was sent yet, so a latest block predates the subscription.
    if (tip === null) return isLatest ? this.#remember(block) : this.#append(block)
    if (this.#history.find(block.id)) {
      if (!isLatest) observer.duplicateDropped(name)
      if (block.id === tip.id) this.#succeeded()
      return
    }
    // A branch is sent once it is as high as the tip, because a lower one may not survive.
    if (block.number < tip.number || (block.number === tip.number && !reader.forks)) return
    if (block.parent === tip.id) {
      if (!isLatest) this.#unusable = 0
      return this.#append(block)
    }
    if (this.#isTooFar(block, tip)) return this.#tooFarAhead(observed, tip)
    await this.#backfill(observed, tip)
  }

  async #backfill({ block, isLatest }: Observed, tip: Position): Promise<void> {
    const { reader, maxGapBlocks: maxBlocks } = this.#options
    const { signal } = this.#closing
    const about = { sent: this.#history, tip, maxBlocks, prefer: this.#feed.upstream, signal }
    try {
      const path = await reader.pathTo(block, about)
      signal.throwIfAborted()
      if (!isLatest) this.#unusable = 0
      if (path) this.#take(path)
      else this.#endTooFar()
    } catch (error) {
      if (signal.aborted) return
      if (!isTemporary(error)) throw error
      if (error instanceof BackfillError && !isLatest) this.#unusableEvent(error.message)
      this.#failed(error)
    }
  }

  #take({ fork, blocks }: Path): void {
    const { observer, name } = this.#options
    for (const position of this.#history.goBackTo(fork))
      for (const each of this.#listeners) each.removed(position)
    if (blocks.length > 1) observer.filled(name, blocks.length - 1)
    for (const block of blocks) this.#append(block)
  }

  #remember(block: Block): void {
    this.#history.append(block)
    this.#knowsStart.resolve()
  }

  #append(block: Block): void {
    this.#remember(block)
    this.#succeeded()
    for (const each of this.#listeners) each.appended(block)
  }

  /** Resets the retries once every known block was sent. */
  #succeeded(): void {
    this.#backoff.reset()
    this.#failures.reset()
    this.#cancelRetry()
  }

  #failed(error: Error): void {
    const { observer, name, clock } = this.#options
    const { forMs, isOver } = this.#failures.add(error, clock.nowMs())
    observer.fetchFailed(name, forMs, error.message)
    if (isOver) return this.#end('the missed blocks could not be fetched')
    this.#retryLater()
  }

  #isTooFar({ number }: { readonly number: number }, tip: Position): boolean {
    return number - tip.number - 1 > this.#options.maxGapBlocks
  }

  /** A gap ends the sequence only if the latest block, and the pool's tip if known, confirm it. */
  #tooFarAhead({ isLatest }: Observed, tip: Position): void {
    const { pool } = this.#options
    // The relay must confirm a gap that only an event shows.
    if (isLatest && (pool.tip === null || this.#isTooFar({ number: pool.tip }, tip)))
      return this.#endTooFar()
    this.#unusableEvent('it is far ahead of all others')
    this.#retryLater()
  }

  #unusableEvent(why: string): void {
    this.#unusable += 1
    if (this.#unusable < maxUnusable) return
    this.#unusable = 0
    this.#feed.leave(why)
  }

  /** Requests the latest block and processes it. Never rejects. */
  async #catchUp(): Promise<void> {
    if (!this.#hasBegun) return
    const { reader, observer, name } = this.#options
    const { signal } = this.#closing
    try {
      this.#observe({ block: await reader.latest(null, signal), isLatest: true })
    } catch (error) {
      if (signal.aborted) return
      if (!isTemporary(error)) return observer.failed(name, error)
      this.#retryLater()
    }
  }

  #retryLater(): void {
    this.#cancelRetry()
    this.#cancelRetry = this.#options.clock.after(this.#backoff.next(), () => void this.#catchUp())
  }

  #endTooFar(): void {
    const { maxGapBlocks, reader } = this.#options
    this.#end(`more than ${maxGapBlocks} ${reader.unit} were missed`)
  }

  #end(reason: string): void {
    const { observer, name } = this.#options
    observer.ended(name, reason)
    const listeners = [...this.#listeners]
    this.close()
    for (const each of listeners) each.ended(reason)
  }
}
