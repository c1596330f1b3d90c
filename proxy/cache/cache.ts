// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { budgetLimits } from '../bytes/limits.ts'
import type { EventLoopPacer } from '../bytes/event-loop-pacer.ts'
import { finalDistance } from '../chain/finality.ts'
import type { Chain, ChainInterface, MethodSpec } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { AgeClass, Live } from '../config/types.ts'
import { type Key, Keys, textOf } from '../relay/call-key.ts'
import type { CacheWhy, Call } from '../relay/call.ts'
import { CallAborted } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply, StreamValidator } from '../relay/reply.ts'
import { observeChain } from '../relay/shown-block.ts'
import { StreamedAnswer } from '../relay/streamed-answer.ts'
import type { Dialect } from '../upstream/dialect.ts'
import type { Pool } from '../upstream/pool.ts'
import type { HeaderList, Incoming } from '../upstream/wire.ts'
import { type InFlight, InFlightCalls, isOver, rejectWaiters, type Waiter } from './in-flight.ts'
import { type Answer, answerOf, bytesOf, type Entry, isFor, replyOf } from './entry.ts'
import {
  adopted,
  ageClassOf,
  unconfirmedBy,
  retentionOf,
  isDoubtful,
  type Lifetimes,
  ttlOf,
  whyNever,
} from './retention.ts'
import type { MemoryStore } from './memory-store.ts'
import type { SharedEntry } from './entry-codec.ts'
import type { AnswerSharing, Found, Peek, SharedAnswers } from './shared-cache.ts'

/** Retention policies of a chain and interface. */
export interface RetentionPolicies {
  readonly lifetimes: (method: string) => Lifetimes
  /** Methods that are always cross-validated, and so never cached. */
  readonly crossValidated: ReadonlySet<string>
}

export interface CacheOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly pool: Pool
  readonly dialect: Dialect
  readonly clock: Clock
  readonly turns: EventLoopPacer
  readonly store: MemoryStore
  /** The store shared by replicas; null if there is none. */
  readonly shared: SharedAnswers | null
  readonly policies: Live<RetentionPolicies>
  /** Equal for listeners that may share answers. */
  readonly scope: string
}

/** Wraps a relay with a cache, which also coalesces identical calls in flight. */
export function withCache(relay: Relay, options: CacheOptions): Relay {
  const cached = new CachedRelay(relay, options)
  return (call) => cached.run(call)
}

/** How long waiters wait for the copy of a long answer. */
const maxCopyMs = 1_000

class CachedRelay {
  readonly #relay: Relay
  readonly #options: CacheOptions
  readonly #keys: Keys
  readonly #shared: AnswerSharing | null
  readonly #nature: { readonly distance: number; readonly dialect: Dialect }
  readonly #inFlight = new InFlightCalls()

  constructor(relay: Relay, options: CacheOptions) {
    const { chain, iface, pool, dialect, scope, shared, clock } = options
    this.#relay = relay
    this.#options = options
    const prefix = `${chain.id} ${iface.apiInterface} ${scope}`
    this.#keys = new Keys(prefix)
    const { tracker } = pool
    const peek = (key: Key) => this.#peek(key)
    this.#shared = shared?.share(prefix, clock, () => tracker.branchChanged(), peek) ?? null
    tracker.onReplaced(() => void this.#shared?.reorged())
    this.#nature = { distance: finalDistance(chain), dialect }
  }

  run(call: Call): Promise<Reply> {
    const { method, journal, directives } = call
    const why = this.#whyNot(call)
    if (why !== null) return this.#bypass(call, why)
    const key = this.#keys.of(call)
    if (key === null) return this.#bypass(call, 'too-large')
    const { pool, store } = this.#options
    const head = pool.tracker.highestShown
    const { refreshCache } = directives
    if (refreshCache) store.delete(key)
    const entry = store.get(key)
    if (entry && this.#isValid(entry, call, head) && isFor(entry.answer, entry.head, directives)) {
      const { answer, ageClass } = entry
      journal.cache = { verdict: 'hit', ageClass, why: null }
      const isLong = answer.body.length > budgetLimits.pacedBytes
      return isLong ? this.#pace(answer, call) : Promise.resolve(replyOf(answer, call))
    }
    if (entry) journal.unconfirmed = unconfirmedBy(entry.answer.upstream, entry)
    const tip = method.block.kind === 'tag' ? null : pool.tip
    const ageClass = ageClassOf(method, tip, this.#nature.distance)
    if (ageClass === null) return this.#bypass(call, 'block-unknown')
    const flight: InFlight = {
      key,
      ageClass,
      tip,
      head,
      branch: this.#branchOf(ageClass, method),
      reorgs: null,
      payload: null,
      waiters: [],
    }
    journal.cache = { verdict: refreshCache ? 'refresh' : 'miss', ageClass, why: null }
    if (refreshCache || !isPlain(call)) return this.#send(call, flight)
    return this.#inFlight.join(call, flight) ?? this.#send(call, flight)
  }

  #whyNot({ method, request, journal, directives }: Call): CacheWhy | null {
    const never = whyNever(method)
    if (never !== null) return never
    const { policies } = this.#options
    const { stickiness, crossValidation, minBlock } = directives
    if (crossValidation !== null || policies.now.crossValidated.has(method.name))
      return 'cross-validation'
    if (stickiness !== null) return 'session'
    if (minBlock !== null && ageClassOf(method, null, 0) === 'latest') return 'min-block'
    if (journal.mayStream || request.verb === 'HEAD') return 'method'
    const { finalized, latest, 'near-head': nearHead } = policies.now.lifetimes(method.name)
    return finalized + latest + nearHead === 0 ? 'policy' : null
  }

  #bypass(call: Call, why: CacheWhy): Promise<Reply> {
    call.journal.cache = { verdict: 'bypass', ageClass: 'none', why }
    return this.#relay(call)
  }

  /** Whether an entry is still valid: no known head is later than the one it covers. */
  #isValid(entry: Entry, { method, journal }: Call, headNow: number): boolean {
    const { expiresMs, head, branch, ageClass } = entry
    // An entry that was valid when the call arrived may answer it.
    if (expiresMs <= journal.startedMs) return false
    return head < 0 || (head >= headNow && branch === this.#branchOf(ageClass, method))
  }

  #branchOf(ageClass: AgeClass, { untilWrite }: MethodSpec): number {
    const { branch, revision, writes } = this.#options.pool.tracker
    // Neither ever decreases, so the sum changes with either.
    return ageClass === 'latest' ? revision + (untilWrite ? writes : 0) : branch
  }

  #send(call: Call, flight: InFlight): Promise<Reply> {
    // A stored answer may predate a write of this replica.
    const shared = call.method.untilWrite && flight.ageClass === 'latest' ? null : this.#shared
    const pending = shared && this.#lookUp(call, flight, shared)
    return (pending ?? this.#relay(call)).then(
      (reply) => {
        const isHit = call.journal.cache?.verdict === 'hit'
        if (!isHit && this.#copies(call, reply, flight)) return reply
        const waiters = this.#inFlight.end(flight)
        const why = isHit ? null : this.#store(call, reply, flight)
        const { cache } = call.journal
        if (why !== null) this.#drop(flight)
        if (why !== null && cache) call.journal.cache = { ...cache, why }
        if (waiters.length === 0) return reply
        if (!isHit && isDoubtful(call, reply))
          for (const each of waiters) each.resolve(this.#sendAlone(each.call, 'error'))
        else this.#share(waiters, answerOf(reply, call, this.#headersOf(reply)), isHit)
        return reply
      },
      (error: unknown) => {
        const waiters = this.#inFlight.end(flight)
        this.#drop(flight)
        this.#fail(flight, waiters, error, isOver(call, this.#options.clock.nowMs()))
        throw error
      },
    )
  }

  /** Rejects the waiters of a failed call, or sends the next one for all that may retry. */
  #fail(flight: InFlight, waiters: readonly Waiter[], error: unknown, isOwn: boolean): void {
    const { clock, pool } = this.#options
    const [next, ...others] = rejectWaiters(waiters, error, isOwn, clock.nowMs())
    if (next === undefined) return
    const again: InFlight = {
      ...flight,
      ...{ tip: flight.tip && pool.tip, head: pool.tracker.highestShown, waiters: others },
      ...{ branch: this.#branchOf(flight.ageClass, next.call.method), reorgs: null },
    }
    const { cache } = next.call.journal
    if (cache) next.call.journal.cache = { ...cache, verdict: 'miss' }
    this.#inFlight.begin(again, next.call.payload ?? flight.key.bytes)
    next.resolve(this.#send(next.call, again))
  }

  #drop({ key, reorgs }: InFlight): void {
    if (this.#shared && reorgs !== null) void this.#shared.drop(textOf(key))
  }

  /** The answer to a key, for another process; null if there is none that it may use. */
  #peek(key: Key): ReturnType<Peek> {
    const { store, clock, pool } = this.#options
    if (this.#inFlight.has(key)) return 'in-flight'
    const entry = store.get(key)
    if (!entry) return null
    const { answer, ageClass, isEmpty, expiresMs, ttlMs, head, branch } = entry
    const { highestShown, revision, branch: branchNow } = pool.tracker
    const isSame = branch === (ageClass === 'latest' ? revision : branchNow)
    const isFresh = head < 0 || (head >= highestShown && isSame)
    const leftMs = expiresMs - clock.nowMs()
    if (leftMs <= 0 || !isFresh) return null
    const { headers, trailers, upstream, latestBlock } = answer
    const own = { headers, trailers, upstream, latestBlock, ageClass, isEmpty, head, reorgs: 0 }
    const storedWallMs = clock.wallMs() - ttlMs + leftMs
    return { ...own, storedWallMs, ttlMs, body: bytesOf(answer) }
  }

  /** Asks other processes for the answer; null if none can have it. */
  #lookUp(call: Call, flight: InFlight, shared: AnswerSharing): Promise<Reply> | null {
    const { clock, chain, pool, policies } = this.#options
    const { method } = call
    const { key, branch, payload, ageClass } = flight
    const lifetimes = policies.now.lifetimes(method.name)
    const adopt = (stored: SharedEntry) => {
      const { revisedWallMs, doubtedWallMs, highestShown: head } = pool.tracker
      const endedMs = { latest: revisedWallMs, 'near-head': doubtedWallMs, finalized: -Infinity }
      const now = { ms: clock.nowMs(), wallMs: clock.wallMs(), branch, head, endedMs }
      const entry = { ...stored, headers: this.#headersOf({ incoming: stored }) }
      const found = adopted(entry, call, lifetimes, now, chain.failures)
      if (found === 'broken') shared.figures.broken += 1
      return found === 'broken' ? null : found
    }
    const found = shared.lookUp(key, adopt, payload !== null, lifetimes[ageClass])
    return found?.then((each) => this.#adopt(call, flight, each)) ?? null
  }

  #adopt(call: Call, flight: InFlight, found: Found<Entry> | null): Promise<Reply> | Reply {
    const { clock, store, pool } = this.#options
    const { journal } = call
    if (found === null) return this.#relay(call)
    const { entry, reorgs } = found
    if (journal.cache && reorgs === null) journal.cache = { ...journal.cache, why: 'store-down' }
    flight.reorgs = reorgs
    if (entry === null) return this.#relay(call)
    const { ageClass, head, expiresMs, answer } = entry
    pool.tracker.show(head)
    const reply = replyOf(answer, call)
    observeChain(call, reply.incoming, this.#options, answer.refusal)
    journal.cache = { verdict: 'hit', ageClass, why: null }
    // Other entries live for less than the clock skew between machines.
    const isComparable = head < 0 || this.#shared?.isOneClock
    if (isComparable && expiresMs > clock.nowMs()) store.set(flight.key, entry)
    return reply
  }

  /**
   * Copies a long answer while its client reads it, for waiters and for the cache. Short-lived
   * answers are not cached, because they would only evict others.
   * @returns whether it is being copied
   */
  #copies(call: Call, reply: Reply, flight: InFlight): boolean {
    const { body } = reply.incoming
    if (!(body instanceof StreamedAnswer) || !body.validator || reply.refusal) return false
    const { store, clock, policies } = this.#options
    const { finalized } = policies.now.lifetimes(call.method.name)
    const isCacheable = flight.ageClass === 'finalized' && finalized > 0
    if (!isCacheable && flight.waiters.length === 0) return false
    const { validator } = body
    const finish = () => {
      cancel()
      return this.#inFlight.end(flight)
    }
    // The client may read slowly, so waiters give up after a while.
    const cancel = clock.after(maxCopyMs, () => {
      for (const each of finish()) each.resolve(this.#sendAlone(each.call))
    })
    const isCopied = store.copy(body, (bytes) => {
      const waiting = finish()
      const whole = bytes && { ...reply, incoming: { ...reply.incoming, body: bytes } }
      if (!whole || !isCacheable || this.#store(call, whole, flight, validator) !== null)
        this.#drop(flight)
      if (!whole) return this.#fail(flight, waiting, new CallAborted(), true)
      this.#share(waiting, answerOf(whole, call, this.#headersOf(reply), validator))
    })
    if (!isCopied) cancel()
    return isCopied
  }

  /** @returns why the answer is not cached, or only briefly; null if it is cached */
  #store(call: Call, reply: Reply, flight: InFlight, validator?: StreamValidator): CacheWhy | null {
    if (call.journal.logs?.isStored) return 'slices'
    const { store, clock, pool } = this.#options
    const content = validator ? null : (call.reader.contentOf?.(reply.incoming) ?? null)
    const retention = retentionOf(call, reply, flight, content, this.#nature)
    if (typeof retention === 'string') return retention
    const { ageClass } = retention
    const isFinal = ageClass === 'finalized'
    // An empty answer must be confirmed by another upstream, if there is one.
    const isConfirmed =
      pool.upstreams.length === 1 || ![null, reply.upstream].includes(call.journal.unconfirmed)
    const isEmpty = retention.isEmpty && !(isFinal && isConfirmed)
    const lifetimes = this.#options.policies.now.lifetimes(call.method.name)
    const ttlMs = ttlOf(lifetimes, ageClass, isEmpty)
    if (ttlMs === 0) return 'policy'
    const answer = answerOf(reply, call, this.#headersOf(reply), validator)
    if (answer === null) return 'error'
    const { key, branch, reorgs } = flight
    // The answer may be the first to reveal its block.
    const head = isFinal ? -1 : Math.max(flight.head, reply.shownBlock ?? 0)
    if (this.#shared && reorgs !== null) {
      // Storing the answer also ends the lease.
      flight.reorgs = null
      const { status: _, id: __, refusal: ___, ...own } = answer
      // Empty entries remain stored until another upstream confirms them.
      const times = { storedWallMs: clock.wallMs(), ttlMs: isFinal ? lifetimes.finalized : ttlMs }
      void this.#shared.keep(textOf(key), { ...own, ageClass, isEmpty, head, reorgs, ...times })
    }
    const expiresMs = clock.nowMs() + ttlMs
    const entry = { answer, ageClass, isEmpty, expiresMs, ttlMs, head, branch }
    if (!store.set(key, entry)) return 'too-large'
    return isEmpty ? 'empty' : null
  }

  /** Headers that reach the client. */
  #headersOf({ incoming: { headers } }: { incoming: Pick<Incoming, 'headers'> }): HeaderList {
    const { apiInterface, responseHeaders } = this.#options.iface
    if (apiInterface === 'grpc') return headers
    const passedOn: string[] = []
    for (let at = 0; at < headers.length; at += 2) {
      const name = (headers[at] as string).toLowerCase()
      if (name === 'content-type' || responseHeaders.has(name))
        passedOn.push(name, headers[at + 1] as string)
    }
    return passedOn
  }

  /** Paces long answers, because each of many clients gets its own copy. */
  #pace(answer: Answer, call: Call): Promise<Reply> {
    return new Promise((resolve) => {
      this.#options.turns.run(answer.body.length, () => resolve(replyOf(answer, call)))
    })
  }

  /** Sends the answer to the waiters; null if only one client can read it. */
  #share(waiting: readonly Waiter[], answer: Answer | null, isHit = false): void {
    for (const { call, resolve } of waiting) {
      if (answer !== null) resolve(this.#pace(answer, call))
      // A long answer from the shared store is now in memory.
      else resolve(isHit ? this.run(call) : this.#sendAlone(call))
    }
  }

  /** Sends a waiter's call separately. */
  #sendAlone(call: Call, why: CacheWhy = 'too-large'): Promise<Reply> {
    const { cache } = call.journal
    if (cache) call.journal.cache = { ...cache, verdict: 'miss', why }
    return this.#relay(call)
  }
}

/** Whether no directive can make its answer or errors differ from those of other calls. */
function isPlain({ directives }: Call): boolean {
  const { selectProvider, blockProviders, relayTimeoutMs, minBlock } = directives
  const isOwn = selectProvider !== null || blockProviders.length > 0 || minBlock !== null
  return !isOwn && relayTimeoutMs === null
}
