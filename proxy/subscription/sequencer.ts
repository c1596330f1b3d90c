// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { TimeLimit } from '../clock/time-limit.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { Backoff } from './backoff.ts'
import { Feed, type FeedOptions } from './feed.ts'
import { History } from './history.ts'
import { GapTooLarge, mayPass, Unconnected } from './failures.ts'
import type { ChainReader, Link, Path, Place } from './link.ts'
import { Outage } from './outage.ts'
import { Patience } from './patience.ts'
import { SourceWatch, type SourceWatchOptions } from './source-watch.ts'

/** An unconnected sighting may be due to upstreams that are behind; this many in a row are not. */
const mostDisbelieved = 3
/** How long the place to begin from is waited for. */
const anchorMs = 3_000
/** Sightings that wait; what is left out is found again on the way back along the chain. */
const mostWaiting = 64
const mostWaitingBytes = 64 * 1024 * 1024
/** Sightings that are remembered where the chain forks; there, each is as long as a header at most. */
const mostSeen = 256

export interface SequencerOptions extends Omit<FeedOptions, 'polling'>, SourceWatchOptions {
  readonly reader: ChainReader
  readonly pollIntervalMs: number
  readonly maxGapBlocks: number
}

/** Hears a chain, link by link, each once and in order. */
export interface SequenceListener {
  appended(link: Link): void
  /** Another branch has taken its place. The newest comes first; what replaces them follows. */
  removed(place: Place): void
  /** It cannot go on without a hole. */
  ended(reason: string): void
}

interface Sighting {
  readonly link: Link
  /** It is the chain's latest by what the upstreams answer, even where it is below what was told. */
  readonly isLatest: boolean
}

/**
 * Makes one unbroken sequence out of what sources tell: what is known already is dropped, what was
 * missed is fetched first, and what belongs to another branch begins where the branches part.
 */
export class Sequencer {
  readonly #options: SequencerOptions
  readonly #feed: Feed
  readonly #watch: SourceWatch
  readonly #history: History
  readonly #outage: Outage
  readonly #patience: Patience
  readonly #backoff = new Backoff()
  readonly #seen = new Map<string, Link>()
  readonly #listeners = new Set<SequenceListener>()
  readonly #closing = new AbortController()
  #waiting: Sighting[] = []
  #isAnchored = false
  #isRunning = false
  #isCatchingUp = false
  /** What was asked for came before the source that tells now. */
  #mustCatchUpAgain = false
  #disbelieved = 0
  /** The upstream that polling stays with. */
  #polled: string | null = null
  #cancelRetry = () => {}

  constructor(options: SequencerOptions) {
    this.#options = options
    this.#history = new History(options.maxGapBlocks + 1)
    this.#outage = new Outage(options)
    this.#patience = new Patience({ ...options, outage: this.#outage })
    const { pollIntervalMs: intervalMs } = options
    const poll = () => this.#catchUp(false)
    this.#feed = new Feed(
      { ...options, polling: { intervalMs, poll } },
      {
        event: (result) => {
          this.#heard(result)
        },
        moved: () => {
          this.#watch.moved()
          void this.#catchUp(false)
        },
      },
    )
    this.#watch = new SourceWatch(options, {
      looked: () => {
        this.#feed.check()
        this.#checkBroken()
      },
      stalled: () => {
        if (this.#feed.upstream !== null) void this.#catchUp(true)
      },
      lags: () => {
        this.#feed.leave('it lags behind the chain')
      },
    })
  }

  /** @throws NodeRefused @throws RelayError */
  async open(): Promise<void> {
    await this.#feed.open()
    await this.#anchor()
    this.#closing.signal.throwIfAborted()
    this.#isAnchored = true
    this.#watch.start()
    void this.#run()
  }

  attach(listener: SequenceListener): void {
    this.#listeners.add(listener)
  }

  /** @returns whether anybody still listens */
  detach(listener: SequenceListener): boolean {
    this.#listeners.delete(listener)
    return this.#listeners.size > 0
  }

  /** The upstream that tells; null while polling, or while there is none. */
  get upstream(): string | null {
    return this.#feed.upstream
  }

  /** Whether the chain can be heard of at all. */
  get outage(): Pick<Outage, 'isOn' | 'overMs'> {
    return this.#outage
  }

  close(): void {
    this.#closing.abort()
    this.#watch.stop()
    this.#cancelRetry()
    this.#feed.close()
    this.#listeners.clear()
    this.#waiting = []
  }

  /** What is the newest now was before the subscription: it is not told, but followed from. */
  async #anchor(): Promise<void> {
    const { reader, clock } = this.#options
    // A poll has nothing else to begin from, and takes what time it needs.
    const budgetMs = this.#feed.isPolling ? null : anchorMs
    const limit = new TimeLimit(clock, this.#closing.signal, budgetMs)
    try {
      const { place, upstream } = await reader.begin(this.#feed.upstream, limit.signal)
      this.#polled = upstream
      this.#history.append(place)
    } catch (error) {
      const isDefect = !mayPass(error) && !limit.signal.aborted
      if (isDefect || this.#closing.signal.aborted) throw error
      if (!this.#feed.isPolling) return
      throw error instanceof RelayError ? error : noBeginning(error)
    } finally {
      limit.end()
    }
  }

  #heard(event: Uint8Array): void {
    const link = this.#options.reader.read(event)
    if (link === null) return this.#disbelieve('what it tells cannot be understood')
    this.#watch.sighted(link.number)
    this.#sighted({ link, isLatest: false })
  }

  #sighted(sighting: Sighting): void {
    this.#outage.heard()
    this.#remember(sighting.link)
    this.#waiting.push(sighting)
    while (this.#waiting.length > mostWaiting || this.#hasTooLongWaiting) this.#waiting.shift()
    void this.#run()
  }

  /** The newest one may be as long as it is. */
  get #hasTooLongWaiting(): boolean {
    const bytes = this.#waiting.reduce((sum, { link }) => sum + link.event.length, 0)
    return this.#waiting.length > 1 && bytes > mostWaitingBytes
  }

  /** Takes sightings one after another. */
  async #run(): Promise<void> {
    if (this.#isRunning || !this.#isAnchored) return
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

  async #follow(sighting: Sighting): Promise<void> {
    const { link, isLatest } = sighting
    const { observer, name } = this.#options
    const { tip } = this.#history
    // What is the latest when nothing was told yet was there before.
    if (tip === null) return isLatest ? this.#history.append(link) : this.#append(link)
    if (this.#history.find(link.id)) {
      if (!isLatest) observer.duplicateDropped(name)
      if (link.id === tip.id) this.#settled()
      return
    }
    if (link.number <= tip.number && !this.#isOtherBranch(sighting, tip)) return
    if (link.parent === tip.id) {
      if (!isLatest) this.#disbelieved = 0
      return this.#append(link)
    }
    if (this.#isIncredible(link, tip, isLatest)) {
      this.#disbelieve('it is far ahead of all others')
      return this.#retryLater()
    }
    try {
      const path = await this.#pathTo(link)
      this.#closing.signal.throwIfAborted()
      if (!isLatest) this.#disbelieved = 0
      this.#take(path)
    } catch (error) {
      if (this.#closing.signal.aborted) return
      if (error instanceof GapTooLarge) return this.#end(error.message)
      if (!mayPass(error)) throw error
      if (error instanceof Unconnected && !isLatest) this.#disbelieve(error.message)
      this.#patience.failed(error)
      this.#retryLater()
    }
  }

  #pathTo(link: Link): Promise<Path> {
    return this.#options.reader.pathTo(link, {
      told: this.#history,
      seen: (id) => this.#seen.get(id) ?? null,
      most: this.#options.maxGapBlocks,
      prefer: this.#feed.upstream,
      signal: this.#closing.signal,
    })
  }

  #take({ fork, between, link }: Path): void {
    const { observer, name } = this.#options
    for (const place of this.#history.goBackTo(fork))
      for (const each of this.#listeners) each.removed(place)
    if (between.length > 0) observer.filled(name, between.length)
    for (const each of between) this.#append(each)
    this.#append(link)
  }

  #append(link: Link): void {
    this.#history.append(link)
    this.#watch.news()
    this.#settled()
    for (const each of this.#listeners) each.appended(link)
  }

  /** All that is known is told. */
  #settled(): void {
    this.#backoff.reset()
    this.#patience.renew()
    this.#cancelRetry()
  }

  /**
   * A branch is told once it is as high as what was told: it may not live to be. A lower one only
   * when the whole chain has gone back to it.
   */
  #isOtherBranch({ link, isLatest }: Sighting, tip: Place): boolean {
    const { reader, pool, followsTip, allowedLagBlocks } = this.#options
    if (!reader.forks) return false
    if (link.number === tip.number) return true
    // What is below all that is remembered may as well be where a slow upstream is.
    if (!isLatest || link.number < (this.#history.lowest?.number ?? 0)) return false
    return followsTip && (pool.tip ?? 0) <= link.number + allowedLagBlocks
  }

  /** One upstream alone says so, and its word would end the subscription. */
  #isIncredible(link: Link, { number }: Place, isLatest: boolean): boolean {
    const { pool, followsTip, maxGapBlocks } = this.#options
    if (link.number - number - 1 <= maxGapBlocks) return false
    // What an event says is asked for once more, over the relay.
    if (!isLatest) return true
    return followsTip && pool.tip !== null && pool.tip - number - 1 <= maxGapBlocks
  }

  #disbelieve(why: string): void {
    this.#disbelieved += 1
    if (this.#disbelieved < mostDisbelieved) return
    this.#disbelieved = 0
    this.#feed.leave(why)
  }

  /** Asks for the newest one, and follows it. Never rejects. */
  async #catchUp(isStalled: boolean): Promise<void> {
    if (!this.#isAnchored) return
    if (this.#isCatchingUp) {
      this.#mustCatchUpAgain = true
      return
    }
    this.#isCatchingUp = true
    const { reader, observer, name } = this.#options
    const { signal } = this.#closing
    try {
      const { link, upstream } = await reader.latest(
        this.#feed.isPolling ? this.#polled : null,
        signal,
      )
      this.#polled = upstream
      const tip = this.#history.tip
      const isNews = tip !== null && link.number > tip.number
      this.#sighted({ link, isLatest: true })
      if (isStalled && isNews) this.#feed.leave('it has stalled')
    } catch (error) {
      if (signal.aborted) return
      if (!mayPass(error)) return observer.failed(name, error)
      if (error instanceof RelayError) this.#outage.unanswered()
      else this.#outage.heard()
      this.#retryLater()
    } finally {
      this.#isCatchingUp = false
    }
    if (!this.#mustCatchUpAgain) return
    this.#mustCatchUpAgain = false
    await this.#catchUp(false)
  }

  #retryLater(): void {
    this.#cancelRetry()
    this.#cancelRetry = this.#options.clock.after(this.#backoff.next(), () => {
      void this.#catchUp(false)
    })
  }

  /** Upstreams answer, but for long not with what leads from what was told to what there is. */
  #checkBroken(): void {
    if (this.#patience.isOver) this.#end('what was missed is not to be had')
  }

  #remember(link: Link): void {
    if (!this.#options.reader.forks) return
    this.#seen.set(link.id, link)
    if (this.#seen.size > mostSeen) this.#seen.delete(this.#seen.keys().next().value as string)
  }

  #end(reason: string): void {
    const { observer, name } = this.#options
    observer.ended(name, reason)
    const listeners = [...this.#listeners]
    this.close()
    for (const each of listeners) each.ended(reason)
  }
}

function noBeginning(cause: unknown): RelayError {
  const message = 'no upstream tells the latest block, from which a subscription could begin'
  return new RelayError(errorKinds.upstreamFailed, message, { cause })
}
