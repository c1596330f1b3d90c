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
import { header, type HeaderList, type Incoming } from '../upstream/wire.ts'
import { type Answer, answerOf, type Entry, isFor, replyOf } from './entry.ts'
import {
  adopted,
  ageClassOf,
  unconfirmedBy,
  retentionOf,
  isDoubtful,
  type Lifetimes,
  type Moment,
  ttlOf,
  whyNever,
} from './retention.ts'
import type { MemoryStore } from './memory-store.ts'
import type { SharedEntry } from './entry-codec.ts'
import { type SharedAnswers, SharedCache } from './shared-cache.ts'

/** What the policies of a chain and interface say of keeping answers. */
export interface KeepingPolicies {
  readonly lifetimes: (method: string) => Lifetimes
  /** Methods whose answers upstreams must agree on each time. */
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
  /** The store of all replicas; null: there is none. */
  readonly shared: SharedAnswers | null
  readonly policies: Live<KeepingPolicies>
  /** Of listeners that may have one another's answers. */
  readonly scope: string
}

/** A relay that answers from what it keeps, and asks once for what many ask at the same time. */
export function withCache(relay: Relay, options: CacheOptions): Relay {
  const cached = new CachedRelay(relay, options)
  return (call) => cached.run(call)
}

/** A call on its way to an upstream, and the others that wait for its answer. */
interface InFlight extends Moment {
  readonly key: Key
  readonly branch: number
  /** How many reorgs the replicas had seen; null: not known, or not shared. */
  reorgs: number | null
  /** The params of those that may follow; null: none may. */
  payload: Uint8Array | null
  waiters: Waiter[] | null
}

interface Waiter {
  readonly call: Call
  readonly resolve: (reply: Reply | Promise<Reply>) => void
  readonly reject: (error: unknown) => void
}

/** Others wait for the copy of a long answer for so long. */
const maxCopyMs = 1_000

class CachedRelay {
  readonly #relay: Relay
  readonly #options: CacheOptions
  readonly #keys: Keys
  readonly #shared: SharedCache | null
  readonly #nature: { readonly distance: number; readonly dialect: Dialect }
  /** By the hashes of their keys. */
  readonly #inFlight = new Map<number, InFlight>()
  #headers: HeaderList = []

  constructor(relay: Relay, options: CacheOptions) {
    const { chain, iface, pool, dialect, scope, shared, clock } = options
    this.#relay = relay
    this.#options = options
    const prefix = `${chain.id} ${iface.apiInterface} ${scope}`
    this.#keys = new Keys(prefix)
    const { tracker } = pool
    this.#shared = shared && new SharedCache(shared, clock, prefix, () => tracker.branchChanged())
    tracker.onReorg(() => void this.#shared?.reorged())
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
    if (entry && this.#holds(entry, call, head) && isFor(entry.answer, entry.head, directives)) {
      const { answer, ageClass } = entry
      journal.cache = { verdict: 'hit', ageClass, why: null }
      const isLong = answer.body.length > budgetLimits.pacedBytes
      return isLong ? this.#give(answer, call) : Promise.resolve(replyOf(answer, call))
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
      waiters: null,
    }
    journal.cache = { verdict: refreshCache ? 'refresh' : 'miss', ageClass, why: null }
    if (refreshCache || !isPlain(call)) return this.#ask(call, flight)
    const first = this.#inFlight.get(key.hash)
    const payload = call.payload ?? key.bytes
    if (first && mayFollow(payload, first, flight)) {
      journal.cache = { verdict: 'coalesced', ageClass, why: null }
      return new Promise((resolve, reject) => {
        ;(first.waiters ??= []).push({ call, resolve, reject })
      })
    }
    flight.payload = payload
    this.#inFlight.set(key.hash, flight)
    return this.#ask(call, flight)
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

  /** An entry is still true: no head is known that its answer could lack. */
  #holds(entry: Entry, { method, journal }: Call, headNow: number): boolean {
    const { expiresMs, head, branch, ageClass } = entry
    // What held when the call came is an answer to it.
    if (expiresMs <= journal.startedMs) return false
    return head < 0 || (head >= headNow && branch === this.#branchOf(ageClass, method))
  }

  #branchOf(ageClass: AgeClass, { untilWrite }: MethodSpec): number {
    const { branch, revision, writes } = this.#options.pool.tracker
    // Neither ever falls, so the sum shows a change of either.
    return ageClass === 'latest' ? revision + (untilWrite ? writes : 0) : branch
  }

  #ask(call: Call, flight: InFlight): Promise<Reply> {
    // An answer in the store may be older than a write of this replica.
    const shared = call.method.untilWrite && flight.ageClass === 'latest' ? null : this.#shared
    const pending = shared ? this.#askShared(call, flight, shared) : this.#relay(call)
    return pending.then(
      (reply) => {
        const isHit = call.journal.cache?.verdict === 'hit'
        if (!isHit && this.#copies(call, reply, flight)) return reply
        this.#landed(flight)
        const why = isHit ? null : this.#keep(call, reply, flight)
        const { cache } = call.journal
        if (why !== null) this.#drop(flight)
        if (why !== null && cache) call.journal.cache = { ...cache, why }
        const { waiters } = flight
        if (waiters && !isHit && isDoubtful(call, reply))
          for (const each of waiters) each.resolve(this.#askAlone(each.call, 'error'))
        else if (waiters) this.#share(waiters, answerOf(reply, call, this.#headersOf(reply)), isHit)
        return reply
      },
      (error: unknown) => {
        this.#landed(flight)
        this.#drop(flight)
        if (flight.waiters)
          this.#fail(flight, flight.waiters, error, isOver(call, this.#options.clock.nowMs()))
        throw error
      },
    )
  }

  /**
   * Those that waited fail with it.
   * @param isOwn only its own client is why: the next one asks for all of them
   */
  #fail(flight: InFlight, followers: readonly Waiter[], error: unknown, isOwn: boolean): void {
    const { clock, pool } = this.#options
    const nowMs = clock.nowMs()
    const fails = ({ call }: Waiter) => !isOwn || isOver(call, nowMs)
    for (const each of followers) if (fails(each)) each.reject(error)
    const [next, ...others] = followers.filter((each) => !fails(each))
    if (next === undefined) return
    const again: InFlight = {
      ...flight,
      ...{ tip: flight.tip && pool.tip, head: pool.tracker.highestShown, waiters: others },
      ...{ branch: this.#branchOf(flight.ageClass, next.call.method), reorgs: null },
      payload: next.call.payload ?? flight.key.bytes,
    }
    const { cache } = next.call.journal
    if (cache) next.call.journal.cache = { ...cache, verdict: 'miss' }
    this.#inFlight.set(again.key.hash, again)
    next.resolve(this.#ask(next.call, again))
  }

  #landed(flight: InFlight): void {
    flight.payload = null
    const { hash } = flight.key
    if (this.#inFlight.get(hash) === flight) this.#inFlight.delete(hash)
  }

  #drop({ key, reorgs }: InFlight): void {
    if (this.#shared && reorgs !== null) void this.#shared.drop(textOf(key))
  }

  /** Looks for the answer in the store of all replicas before it asks an upstream. */
  async #askShared(call: Call, flight: InFlight, shared: SharedCache): Promise<Reply> {
    const { clock, store, chain, pool, policies } = this.#options
    const { method, journal } = call
    const { key, branch, payload } = flight
    const adopt = (stored: SharedEntry) => {
      const { revisedWallMs, doubtedWallMs, highestShown: head } = pool.tracker
      const endedMs = { latest: revisedWallMs, 'near-head': doubtedWallMs, finalized: -Infinity }
      const now = { ms: clock.nowMs(), wallMs: clock.wallMs(), branch, head, endedMs }
      const entry = { ...stored, headers: this.#headersOf({ incoming: stored }) }
      const found = adopted(entry, call, policies.now.lifetimes(method.name), now, chain.failures)
      if (found === 'broken') shared.figures.broken += 1
      return found === 'broken' ? null : found
    }
    const { entry, reorgs } = await shared.lookUp(textOf(key), adopt, payload !== null)
    if (journal.cache && reorgs === null) journal.cache = { ...journal.cache, why: 'store-down' }
    flight.reorgs = reorgs
    if (entry === null) return this.#relay(call)
    const { ageClass, head, expiresMs, answer } = entry
    pool.tracker.show(head)
    const reply = replyOf(answer, call)
    observeChain(call, reply.incoming, this.#options, answer.refusal)
    journal.cache = { verdict: 'hit', ageClass, why: null }
    // The clocks of replicas differ by more than others are kept for.
    if (head < 0 && expiresMs > clock.nowMs()) store.set(key, entry)
    return reply
  }

  /**
   * Copies a long answer while its client reads it: to keep it when it came whole, unless it does not hold for long and
   * would only drive out others, and for those that wait for it.
   * @returns whether it does
   */
  #copies(call: Call, reply: Reply, flight: InFlight): boolean {
    const { body } = reply.incoming
    if (!(body instanceof StreamedAnswer) || !body.validator || reply.refusal) return false
    const { store, clock, policies } = this.#options
    const { finalized } = policies.now.lifetimes(call.method.name)
    const isKept = flight.ageClass === 'finalized' && finalized > 0
    if (!isKept && !flight.waiters) return false
    const { validator } = body
    const landed = () => {
      cancel()
      this.#landed(flight)
      const { waiters } = flight
      flight.waiters = null
      return waiters ?? []
    }
    // Its client may take as long as it likes.
    const cancel = clock.after(maxCopyMs, () => {
      for (const each of landed()) each.resolve(this.#askAlone(each.call))
    })
    const isCopied = store.copy(body, (bytes) => {
      const followers = landed()
      const whole = bytes && { ...reply, incoming: { ...reply.incoming, body: bytes } }
      if (!whole || !isKept || this.#keep(call, whole, flight, validator) !== null)
        this.#drop(flight)
      if (!whole) return this.#fail(flight, followers, new CallAborted(), true)
      this.#share(followers, answerOf(whole, call, this.#headersOf(reply), validator))
    })
    if (!isCopied) cancel()
    return isCopied
  }

  /** @returns why the answer is not kept, or not for long; null when it is */
  #keep(call: Call, reply: Reply, flight: InFlight, validator?: StreamValidator): CacheWhy | null {
    const { store, clock, pool } = this.#options
    const finding = validator ? null : (call.reader.findingOf?.(reply.incoming) ?? null)
    const holding = retentionOf(call, reply, flight, finding, this.#nature)
    if (typeof holding === 'string') return holding
    const { ageClass } = holding
    const isFinal = ageClass === 'finalized'
    // Another upstream confirmed it, or there is none.
    const isConfirmed =
      pool.upstreams.length === 1 || ![null, reply.upstream].includes(call.journal.unconfirmed)
    const isEmpty = holding.isEmpty && !(isFinal && isConfirmed)
    const lifetimes = this.#options.policies.now.lifetimes(call.method.name)
    const ttlMs = ttlOf(lifetimes, ageClass, isEmpty)
    if (ttlMs === 0) return 'policy'
    const answer = answerOf(reply, call, this.#headersOf(reply), validator)
    if (answer === null) return 'error'
    const { key, branch, reorgs } = flight
    // The answer may be the first to show its block.
    const head = isFinal ? -1 : Math.max(flight.head, reply.shownBlock ?? 0)
    if (this.#shared && reorgs !== null) {
      // The lease goes with it.
      flight.reorgs = null
      const { status: _, id: __, refusal: ___, ...own } = answer
      // Empty entries stay stored until another upstream confirms them.
      const times = { storedWallMs: clock.wallMs(), ttlMs: isFinal ? lifetimes.finalized : ttlMs }
      void this.#shared.keep(textOf(key), { ...own, ageClass, isEmpty, head, reorgs, ...times })
    }
    const expiresMs = clock.nowMs() + ttlMs
    if (!store.set(key, { answer, ageClass, isEmpty, expiresMs, head, branch })) return 'too-large'
    return isEmpty ? 'empty' : null
  }

  /** Those that reach the client; mostly the same, and then the same list. */
  #headersOf({ incoming: { headers } }: { incoming: Pick<Incoming, 'headers'> }): HeaderList {
    const { apiInterface, responseHeaders } = this.#options.iface
    if (apiInterface === 'grpc') return headers
    const last = this.#headers
    const isUsual = responseHeaders.size === 0 && last.length === 2
    if (isUsual && header(headers, 'content-type') === last[1]) return last
    const passedOn: string[] = []
    for (let at = 0; at < headers.length; at += 2) {
      const name = (headers[at] as string).toLowerCase()
      if (name === 'content-type' || responseHeaders.has(name))
        passedOn.push(name, headers[at + 1] as string)
    }
    return (this.#headers = passedOn)
  }

  /** Many may get one answer at once, each with bytes of its own. */
  #give(answer: Answer, call: Call): Promise<Reply> {
    return new Promise((resolve) => {
      this.#options.turns.run(answer.body.length, () => resolve(replyOf(answer, call)))
    })
  }

  /** Gives the answer to those that waited for it. One that streams can be read by one client only. */
  #share(followers: readonly Waiter[], answer: Answer | null, isHit = false): void {
    for (const { call, resolve } of followers) {
      if (answer !== null) resolve(this.#give(answer, call))
      // A long one that another replica has kept is in memory now.
      else resolve(isHit ? this.run(call) : this.#askAlone(call))
    }
  }

  /** One that waited for another call asks for itself. */
  #askAlone(call: Call, why: CacheWhy = 'too-large'): Promise<Reply> {
    const { cache } = call.journal
    if (cache) call.journal.cache = { ...cache, verdict: 'miss', why }
    return this.#relay(call)
  }
}

/** The answer will not be older than what is known now. A node may refuse one spelling and answer another. */
function mayFollow(payload: Uint8Array, first: InFlight, { key, head, branch }: InFlight): boolean {
  if (textOf(first.key) !== textOf(key) || first.payload === null) return false
  if (first.head < head || first.branch !== branch) return false
  return Buffer.compare(payload, first.payload) === 0
}

/** It asks for nothing of its own: its answer and its errors are those of any other call. */
function isPlain({ directives }: Call): boolean {
  const { selectProvider, blockProviders, relayTimeoutMs, minBlock } = directives
  const isOwn = selectProvider !== null || blockProviders.length > 0 || minBlock !== null
  return !isOwn && relayTimeoutMs === null
}

/** Its client has left, or waits no longer. */
function isOver({ signal, journal }: Call, nowMs: number): boolean {
  return signal.aborted || nowMs >= journal.clientDeadlineMs
}
