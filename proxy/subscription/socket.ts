// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ResultPath } from '../chain/types.ts'
import type { FailureTable } from '../chain/failure-table.ts'
import { within } from '../clock/cancellation.ts'
import { type Clock, sleep, type Cancel } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Live, RelayConfig } from '../config/types.ts'
import { parseJson } from '../json/scanner.ts'
import { toHash } from '../json/values.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import { toBlockNumber } from '../upstream/dialect.ts'
import { Cooldown } from '../upstream/health.ts'
import { anyUpstream, isPermitted, type Wanted } from '../upstream/wanted.ts'
import { limitOf, settle } from '../upstream/outcome.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Pool } from '../upstream/pool.ts'
import { NoRoom, TransportError } from '../upstream/wire.ts'
import { memberBytes } from './ask.ts'
import type { ChainReader } from './family.ts'
import { SharedSource, urlBackoff, type Source } from './source.ts'
import {
  hasStalled,
  type SubscriptionObserver,
  type TopicRequest,
  NodeRefused,
} from './subscriptions.ts'
import { Backoff } from '../clock/backoff.ts'
import type { SocketUrl } from '../upstream/node-url.ts'

const silent = 'its WebSocket accepts subscriptions and sends nothing (stalled: #)'
/** Longer than it may take to detect the next stall. */
const silentMs = 180_000
/** How long an upstream may take to answer before another one is tried. */
const openTimeoutMs = 5_000

interface SocketsOptions {
  readonly pool: Pool
  readonly config: Live<Pick<RelayConfig, 'strategy'>>
  readonly failures: FailureTable
  readonly clock: Clock
  readonly random: Random
  readonly observer: SubscriptionObserver
  readonly allowedLagBlocks: number
  /** A socket has stalled if it delivers no events for this long while the chain advances. */
  readonly stallMs: number
  /** The sequence whose events prove that a socket is alive; null if there is none. */
  readonly head: ChainReader | null
}

/** The WebSocket URLs of a pool. */
export class Sockets {
  readonly #options: SocketsOptions
  readonly #known = new WeakMap<SocketUrl, Socket>()

  constructor(options: SocketsOptions) {
    this.#options = options
  }

  get #all(): readonly Socket[] {
    const { pool } = this.#options
    return pool.upstreams.flatMap((upstream) =>
      upstream.sockets.map((url) =>
        this.#known.getOrInsertComputed(url, () => new Socket(upstream, url, this.#options)),
      ),
    )
  }

  get hasAny(): boolean {
    return this.#all.length > 0
  }

  /**
   * Returns the next socket in the pool's order of selection; null if none is available.
   * @param method the config of its upstream must permit it
   */
  next(tried: ReadonlySet<Socket>, method: string): Socket | null {
    const { pool, config } = this.#options
    const open = this.#all.filter(
      (each) => each.isOpen && !tried.has(each) && isPermitted(each.upstream, method),
    )
    const only = open.map(({ upstream }) => upstream.name)
    const criteria: Wanted = { ...anyUpstream, block: { kind: 'tag', tag: 'latest' }, only }
    const upstream = pool.pick.next(criteria, config.now.strategy)
    return open.find((each) => each.upstream === upstream) ?? null
  }
}

/** A WebSocket URL that carries topics. Its failures do not count against the upstream's calls. */
export class Socket {
  readonly upstream: Upstream
  readonly url: SocketUrl
  readonly #options: SocketsOptions
  readonly #cooldown: Cooldown
  /** Sources by request, because some nodes refuse a duplicate request. */
  readonly #shared = new Map<string, SharedSource>()
  #topics = 0
  #watch: HeadWatch | null = null

  constructor(upstream: Upstream, url: SocketUrl, options: SocketsOptions) {
    this.upstream = upstream
    this.url = url
    this.#options = options
    this.#cooldown = new Cooldown(options.clock, options.random, () => {}, urlBackoff)
    upstream.removal.signal.addEventListener('abort', () => this.#leave('it was removed'))
  }

  /** Whether the URL accepts new topics. */
  get isOpen(): boolean {
    return !this.url.cooldown.active && !this.#cooldown.active && this.url.verified !== false
  }

  /** Has no effect during a cooldown: one lost connection is one failure. */
  failed(): void {
    this.#cooldown.begin(null)
  }

  /** Ends the cooldown. */
  worked(): void {
    this.#cooldown.end()
  }

  /** Reports what an event reveals about the chain, before any client sees the event. */
  #observe(request: TopicRequest, event: Uint8Array): void {
    const { upstream, url } = this
    const { pool, clock } = this.#options
    // A URL whose head jumped may serve another chain until it is verified again.
    if (url.verified === false || (url.verified === null && url.jumpedMs > -Infinity)) return
    const { readHead } = request
    if (!readHead) return showEvent(event, request, pool.tracker, upstream)
    const block = readHead(event)
    if (!block) return
    const { number, id, parent } = block
    pool.observeHead(upstream, number, clock.nowMs(), url)
    if (url.head?.block !== number) return
    const shown = { number, hash: toHash(id), parent: toHash(parent), isByHash: false }
    pool.tracker.showBlock(shown, upstream)
  }

  /** Subscribes to a topic. @throws TransportError after starting a cooldown @throws NodeRefused */
  async open(request: TopicRequest, signal: AbortSignal): Promise<Source> {
    this.#topics += 1
    try {
      const source = await this.#join(request, signal, () => this.#left())
      if (this.upstream.removal.signal.aborted) {
        source.close()
        throw new TransportError('aborted', 'the upstream was removed', false)
      }
      this.#watch ??= this.#watchHead()
      return source
    } catch (error) {
      if (!(error instanceof TransportError)) throw error
      const { fault, retryAfterMs } = error
      const failure = this.#options.failures.ofTransport(fault)
      if (failure.cooldown) settle('limited', null, this.url, limitOf(failure, retryAfterMs))
      else if (!(error instanceof NoRoom) && !signal.aborted) this.failed()
      throw error
    }
  }

  async #join(request: TopicRequest, signal: AbortSignal, left?: () => void): Promise<Source> {
    const { clock } = this.#options
    const key = JSON.stringify([request.method, request.params])
    let shared = this.#shared.get(key)
    if (!shared) {
      const { upstream, url } = this
      const observe = (event: Uint8Array) => this.#observe(request, event)
      const ended = () => this.#shared.delete(key)
      shared = new SharedSource(request, { ...this.#options, upstream, url, observe, ended })
      this.#shared.set(key, shared)
    }
    const budgetMs = this.url.timeoutMs ?? openTimeoutMs
    return await within(clock, signal, budgetMs, (limited) => shared.join(limited, left))
  }

  #watchHead(): HeadWatch | null {
    const { url } = this
    const { head } = this.#options
    if (!head) return null
    const open = (signal: AbortSignal) => this.#join(head.request, signal)
    const leave = (why: string) => {
      if (why === hasStalled) this.upstream.faulted(silent, silentMs)
      this.#leave(why)
    }
    return new HeadWatch(head, { ...this.#options, url, open, leave })
  }

  /** Moves all topics to another socket. */
  #leave(why: string): void {
    for (const shared of [...this.#shared.values()]) shared.leave(why)
  }

  #left(): void {
    this.#topics -= 1
    if (this.#topics > 0) return
    this.#watch?.close()
    this.#watch = null
  }
}

/** Reports to the tracker the block that an event without a head shows. */
function showEvent(
  event: Uint8Array,
  { place, tag }: TopicRequest,
  tracker: ChainTracker,
  by: Upstream,
): void {
  // Pending state does not belong to a block yet.
  if (place === null || tag === 'pending') return
  // Only chains with block hashes have reorgs.
  if (place?.hash && valueIn(event, ['removed']) === true) return tracker.branchChanged()
  const shown = place ? toBlockNumber(valueIn(event, place.path), place.encoding) : null
  if (!place || shown === null) return tracker.revise()
  const number = shown - (place.ahead ?? 0)
  const hash = place.hash ? toHash(valueIn(event, place.hash)) : null
  if (tag === 'safe' || tag === 'finalized') tracker.showTagged(tag, number)
  tracker.showBlock({ number, hash, parent: null, isByHash: false }, by)
}

/** Scans instead of parsing, because an event may be a whole block. */
function valueIn(event: Uint8Array, path: ResultPath['path']): unknown {
  let bytes: Uint8Array | null = event
  for (const key of path) bytes = bytes && memberBytes(bytes, String(key))
  return bytes && parseJson(bytes)
}

/** Checks per stall period. */
const checksPerStall = 3

interface HeadWatchOptions extends Omit<SocketsOptions, 'head' | 'config' | 'failures'> {
  readonly url: SocketUrl
  open(signal: AbortSignal): Promise<Source>
  /** Moves all topics to another socket. */
  leave(why: string): void
}

/**
 * Checks whether the socket of some topics is alive. A topic may be quiet for a good reason, but
 * the head may not. If the head advances elsewhere but not on this socket, all topics leave it.
 */
class HeadWatch {
  readonly #reader: ChainReader
  readonly #options: HeadWatchOptions
  readonly #closing = new AbortController()
  #source: Source | null = null
  /** The latest delivered block; initially the tip, which a silent socket soon trails. */
  #number: number | null
  #checksWithoutNews = 0
  #checksBehind = 0
  #cancel: Cancel = () => {}

  constructor(reader: ChainReader, options: HeadWatchOptions) {
    this.#reader = reader
    this.#options = options
    this.#number = options.pool.tip
    void this.#listen()
    this.#checkLater()
  }

  close(): void {
    this.#closing.abort()
    this.#cancel()
    this.#source?.close()
  }

  /** Subscribes to the head, again whenever the subscription is lost or refused. Never rejects. */
  async #listen(): Promise<void> {
    const { clock, random, observer, open } = this.#options
    const { signal } = this.#closing
    const backoff = new Backoff(urlBackoff, random)
    while (!signal.aborted) {
      try {
        const source = await open(signal)
        if (signal.aborted) return source.close()
        this.#source = source
        backoff.reset()
        const { promise, resolve: lost } = Promise.withResolvers<void>()
        source.listen({ event: (event) => this.#received(event), lost: () => lost() })
        await promise
      } catch (error) {
        const isExpected = error instanceof NodeRefused || error instanceof TransportError
        if (!isExpected && !signal.aborted) observer.failed('head', error)
      }
      this.#source = null
      await sleep(clock, backoff.next(), signal).catch(() => {})
    }
  }

  #received(event: Uint8Array): void {
    const block = this.#reader.read(event)
    if (!block) return
    this.#number = block.number
    this.#checksWithoutNews = 0
  }

  #checkLater(): void {
    const { clock, stallMs } = this.#options
    this.#cancel = clock.after(stallMs / checksPerStall, () => {
      this.#checkLater()
      const why = this.#whyLeave()
      if (why !== null) this.#options.leave(why)
    })
  }

  #whyLeave(): string | null {
    const { url, pool, allowedLagBlocks } = this.#options
    if (url.verified === false) return 'it serves another chain'
    this.#number ??= pool.tip
    const behind = (pool.tip ?? 0) - (this.#number ?? 0)
    // A chain may pause: only silence while it advances counts.
    this.#checksWithoutNews = behind > 0 && this.#source ? this.#checksWithoutNews + 1 : 0
    this.#checksBehind = behind > allowedLagBlocks && this.#source ? this.#checksBehind + 1 : 0
    if (this.#checksWithoutNews > checksPerStall) return hasStalled
    return this.#checksBehind > checksPerStall ? 'it lags behind the chain' : null
  }
}
