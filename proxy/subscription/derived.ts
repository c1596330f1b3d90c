// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../clock/clock.ts'
import { Backoff } from './backoff.ts'
import { mayPass } from './failures.ts'
import type { Keeper, KeptBytes } from './kept-bytes.ts'
import type { Link, Place } from './link.ts'
import type { SubscriptionObserver } from './observer.ts'
import type { Patience } from './patience.ts'
import type { SequenceListener } from './sequencer.ts'

/** One event of a block. */
export interface Item {
  /** Which of the block's. */
  readonly key: string
  readonly event: Uint8Array
}

/** Events that follow from the blocks of a chain: logs, transactions. */
export interface DerivedEvents {
  /** All of one block, in their order. @throws what asking throws */
  of(place: Place, prefer: string | null, signal: AbortSignal): Promise<readonly Item[]>
  /** What is told when the block of an event is replaced. */
  takeBack(item: Item): Uint8Array
}

export interface DerivedOptions {
  readonly name: string
  readonly events: DerivedEvents
  readonly clock: Clock
  readonly observer: SubscriptionObserver
  /** Bears with what cannot be fetched. */
  readonly patience: Patience
  readonly maxGapBlocks: number
  /** Blocks may be replaced, and their events taken back. */
  readonly forks: boolean
  /** Bounds what is kept of all topics together. */
  readonly kept: KeptBytes
  /** Which upstream knows the newest block. */
  upstream(): string | null
}

export interface DerivedListener {
  event(event: Uint8Array): void
  ended(reason: string): void
}

/** A block whose events are still to be told. */
interface Step {
  readonly place: Place
  readonly gone: AbortController
  items: readonly Item[] | null
  state: 'new' | 'asked' | 'failed'
}

/** What was told of a block. */
interface Told {
  readonly place: Place
  readonly items: readonly Item[]
  readonly bytes: number
}

/** Blocks that are asked about at the same time. */
const atOnce = 8
/** Bytes of told events that are kept, for the case that they have to be taken back. */
const mostKeptBytes = 16 * 1024 * 1024
/** What an event takes beside its bytes. */
const bytesPerEvent = 200

/**
 * Tells the events of each block of a sequence: in the blocks' order, whole, once, and takes back
 * those of a block that is replaced.
 */
export class DerivedSequence implements SequenceListener, Keeper {
  readonly #options: DerivedOptions
  readonly #hears: DerivedListener
  readonly #steps: Step[] = []
  readonly #told = new Map<string, Told>()
  readonly #backoff = new Backoff()
  /** Of the blocks up to this one more was told than is kept. */
  #forgotten: number | null = null
  #bytes = 0
  #isClosed = false
  #cancelRetry: Cancel = () => {}

  constructor(options: DerivedOptions, hears: DerivedListener) {
    this.#options = options
    this.#hears = hears
    options.kept.join(this)
  }

  get keptBytes(): number {
    return this.#bytes
  }

  forgetOldest(): void {
    const [oldest] = this.#told.values()
    if (!oldest) return
    this.#forget(oldest)
    this.#forgotten = oldest.place.number
  }

  appended({ number, id, parent }: Link): void {
    const place = { number, id, parent }
    this.#steps.push({ place, gone: new AbortController(), items: null, state: 'new' })
    const { maxGapBlocks } = this.#options
    if (this.#steps.length > maxGapBlocks + 1)
      return this.#end(`the events of more than ${maxGapBlocks} blocks could not be fetched`)
    this.#start()
  }

  removed(place: Place): void {
    const step = this.#steps.at(-1)
    if (step?.place.id === place.id) {
      // Nobody was told of it.
      step.gone.abort()
      this.#steps.pop()
      if (this.#steps.length === 0) this.#renew()
      return
    }
    const told = this.#told.get(place.id)
    if (told === undefined) {
      if (this.#forgotten === null || place.number > this.#forgotten) return
      return this.#end('a reorganisation takes back more than is remembered')
    }
    this.#forget(told)
    for (const item of told.items.toReversed())
      this.#hears.event(this.#options.events.takeBack(item))
  }

  ended(reason: string): void {
    if (this.#isClosed) return
    this.close()
    this.#hears.ended(reason)
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry()
    for (const { gone } of this.#steps) gone.abort()
    this.#steps.length = 0
    this.#told.clear()
    this.#bytes = 0
    this.#options.kept.leave(this)
  }

  #start(): void {
    for (const step of this.#steps.slice(0, atOnce))
      if (step.state === 'new') void this.#fetch(step)
  }

  async #fetch(step: Step): Promise<void> {
    const { events, observer, name, upstream } = this.#options
    const { signal } = step.gone
    // The first one that told of a block has it; when that fails, whoever has it.
    const prefer = step.state === 'new' ? upstream() : null
    step.state = 'asked'
    try {
      step.items = await events.of(step.place, prefer, signal)
      if (!signal.aborted) this.#tell()
    } catch (error) {
      if (signal.aborted) return
      if (mayPass(error)) return this.#failed(step, error)
      observer.failed(name, error)
      this.ended('internal error')
    }
  }

  /** Nothing is told before the first one: the others are asked for again when they are the first. */
  #failed(step: Step, error: Error): void {
    step.state = 'failed'
    if (step !== this.#steps[0]) return
    const { patience, clock } = this.#options
    patience.failed(error)
    if (patience.isOver)
      return this.#end(`the events of block ${step.place.number} could not be fetched`)
    this.#cancelRetry = clock.after(this.#backoff.next(), () => void this.#fetch(step))
  }

  #tell(): void {
    if (!this.#steps[0]?.items) return
    for (let step = this.#steps[0]; step?.items; step = this.#steps[0]) {
      this.#steps.shift()
      const { items, place } = step
      if (items.length > 0 && this.#options.forks) this.#keep(place, items)
      for (const { event } of items) this.#hears.event(event)
    }
    this.#renew()
    if (this.#steps[0]?.state === 'failed') void this.#fetch(this.#steps[0])
    this.#start()
  }

  /** What was waited for is told, or gone. */
  #renew(): void {
    this.#cancelRetry()
    this.#backoff.reset()
    this.#options.patience.renew()
  }

  #end(reason: string): void {
    this.#options.observer.ended(this.#options.name, reason)
    this.ended(reason)
  }

  #keep(place: Place, items: readonly Item[]): void {
    const { maxGapBlocks, kept } = this.#options
    const bytes = items.reduce((sum, { event }) => sum + event.length + bytesPerEvent, 0)
    this.#told.set(place.id, { place, items, bytes })
    this.#bytes += bytes
    while (this.#bytes > mostKeptBytes || this.#told.size > maxGapBlocks) this.forgetOldest()
    kept.grown()
  }

  #forget({ place, bytes }: Told): void {
    this.#told.delete(place.id)
    this.#bytes -= bytes
  }
}
