// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { MethodRule } from '../chain/method-rule.ts'
import { dataKinds } from '../chain/native/schema.ts'
import type { DataKind } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Tier } from '../config/types.ts'
import type { TrackedNode } from '../tracker/chain-tracker.ts'
import type { Read } from '../tracker/history.ts'
import type { Head, SyncStatus } from '../tracker/tip.ts'
import { epochLeftMs, Score, type Availability } from './health.ts'
import type { StateRecord, UpstreamState, UrlRecord } from './observer.ts'
import { StateHistory } from './state-history.ts'
import { counted } from '../words/counted.ts'
import type { NodeUrl, SocketUrl, CountedFailure } from './node-url.ts'

const anything: Read = { block: { kind: 'none' } }

/** Slow start: the weight of a recovered upstream rises from zero to full in this time. */
const rampMs = 10_000

/** Current upstreams of a pool. A config reload replaces them. */
export interface Members {
  readonly upstreams: readonly Upstream[]
}

/** Identity, state and load of an upstream. */
export class Upstream implements TrackedNode {
  readonly name: string
  readonly tier: Tier
  /** Empty if not configured. */
  readonly group: string
  /** URLs for calls: all but WebSocket URLs, unless there are no others. */
  readonly urls: readonly NodeUrl[]
  /** WebSocket URLs for subscriptions. Their state does not affect calls. */
  readonly sockets: readonly SocketUrl[]
  readonly availability: Availability
  /** `allowed-methods` and `denied-methods`; null without lists. */
  methods: MethodRule | null = null
  readonly score = new Score()
  readonly #clock: Clock
  readonly #epochDurationMs: number
  readonly #history: StateHistory
  #lastState: UpstreamState = 'unverified'
  #lagReason: string | null = null
  /** Called when a state other than `cooldown` begins; if eligible, `why` tells what changed. */
  onState: ((from: UpstreamState, to: StateRecord) => void) | null = null
  /** Called when one of several URLs no longer serves, or serves again. */
  onUrl: ((url: UrlRecord) => void) | null = null
  requestProbe: (() => void) | null = null
  #rejoinedMs = -Infinity
  readonly #faults = new Map<string, Record<'count' | 'sinceMs' | 'untilMs' | 'min', number>>()
  /** Number of running calls. */
  usedSlots = 0
  /** Aborted when the config drops it: running calls finish, and probes and subscriptions stop. */
  readonly removal = new AbortController()
  latest: Head | null = null
  status: SyncStatus | null = null
  tipThen: number | null = null
  lagBlocks = 0
  ahead: TrackedNode['ahead'] = null
  preconfirmed = 0

  constructor(
    identity: { readonly name: string; readonly tier: Tier; readonly group?: string },
    { urls, sockets }: Pick<Upstream, 'urls' | 'sockets'>,
    availability: Availability,
    clock: Clock,
    epochDurationMs = Infinity,
  ) {
    this.name = identity.name
    this.tier = identity.tier
    this.group = identity.group ?? ''
    this.urls = urls
    this.sockets = sockets
    this.availability = availability
    this.#clock = clock
    this.#epochDurationMs = epochDurationMs
    this.#history = new StateHistory(clock)
  }

  get isInService(): boolean {
    return this.availability.standing === 'eligible'
  }

  get lagReason(): string | null {
    return this.#lagReason
  }

  set lagReason(why: string | null) {
    const isChange = this.lags !== (why !== null)
    // Records the end of an earlier cooldown first.
    if (isChange) this.updateState()
    this.#lagReason = why
    if (isChange) this.updateState('caught up')
  }

  /** Whether reads of the latest state prefer other upstreams. */
  get lags(): boolean {
    return this.#lagReason !== null
  }

  get state(): UpstreamState {
    const { standing } = this.availability
    if (standing !== 'eligible') return standing
    if (this.serves([])) return this.lags ? 'lagging' : 'eligible'
    return this.urls.some((url) => url.isFor([])) ? 'cooldown' : 'unverified'
  }

  /** The state as every surface prints it. */
  get record(): StateRecord {
    return this.updateState()
  }

  /**
   * Records the state and reports a change. Whatever may change the state calls this at once, so
   * that `since` is exact.
   * @param cause what made the upstream eligible
   */
  updateState(cause = 'its cooldown is over'): StateRecord {
    this.#updateUrls()
    const { state } = this
    const pause = this.#pause
    const epochMs = state === 'disabled' ? this.#epochDurationMs : Infinity
    const isPaused = state === 'cooldown' || (state === 'unverified' && pause.leftMs > 0)
    const leftMs = isPaused ? pause.leftMs : epochLeftMs(this.#clock.wallMs(), epochMs)
    const period = this.#history.update(state, leftMs, this.lags ? 'lagging' : 'eligible')
    const record = { ...period, why: this.#whyIn(state, pause.why) }
    const from = this.#lastState
    if (state === 'cooldown' || state === from) return record
    this.#lastState = state
    this.onState?.(from, state === 'eligible' ? { ...record, why: cause } : record)
    return record
  }

  /** Reports a change of a URL, except for cooldowns, which are reported when they begin. */
  #updateUrls(): void {
    const urls = this.allUrls
    for (const url of urls) {
      const { fault, out } = url
      if (fault === null && out === null) continue
      url.out =
        fault === null ? null : (out ?? { sinceMs: this.#clock.wallMs(), isReported: false })
      const isQuiet = url.cooldown.active || url.isPending || url.out?.isReported
      if (urls.length < 2 || (url.out ? isQuiet : !out?.isReported)) continue
      if (url.out) url.out.isReported = true
      this.onUrl?.(url.record)
    }
  }

  /** `1 of 2 URLs` */
  get servingUrls(): string {
    const serving = this.allUrls.filter(({ fault }) => fault === null).length
    return `${serving} of ${counted(this.allUrls.length, 'URL')}`
  }

  /** Remaining cooldown and its reason while all URLs are in cooldown. */
  get #pause(): { readonly leftMs: number; readonly why: string | null } {
    const able = this.urls.filter((url) => url.isFor([]))
    const paused = able.length > 0 ? able : this.urls.filter(({ cooldown }) => cooldown.active)
    const [url] = paused.toSorted((a, b) => a.cooldown.leftMs - b.cooldown.leftMs)
    if (!url) return { leftMs: 0, why: null }
    const { leftMs, last } = url.cooldown
    return { leftMs, why: `${last.why} at ${url.printable}` }
  }

  #whyIn(state: UpstreamState, cooldown: string | null): string | null {
    const { trouble, lagReason, availability } = this
    if (state === 'disabled') return availability.why
    if (state === 'cooldown') return cooldown
    if (state === 'unverified') return trouble ?? cooldown
    // URLs for subscriptions may pass, so a count of URLs that serve would contradict the state.
    if (state === 'rejected' && this.allUrls.length > 1)
      return this.urls.map(({ refusal, printable }) => `${refusal} at ${printable}`).join('; ')
    if (state === 'rejected') return trouble ?? availability.why
    return [lagReason, trouble, this.#limitNotice].filter((why) => why !== null).join('; ') || null
  }

  /** Limits of its URLs that hold back calls, although it is in service. */
  get #limitNotice(): string | null {
    const notices = this.urls.flatMap(({ limit, printable }) => {
      const notice = limit?.notice ?? null
      if (notice === null) return []
      return this.allUrls.length > 1 ? `${printable}: ${notice}` : notice
    })
    return notices.join('; ') || null
  }

  /** Whether every URL has used up its requests of the day. */
  get isDayUsed(): boolean {
    return this.urls.length > 0 && this.urls.every(({ limit }) => limit?.isDayUsed)
  }

  /** The lowest learned limit of its URLs, in requests per second; null without one. */
  get learnedPerSecond(): number | null {
    const all = this.urls.flatMap(({ limit }) => limit?.learnedPerSecond ?? [])
    return all.length === 0 ? null : Math.min(...all)
  }

  /** The smallest learned range of its URLs, in blocks per request for logs; null without one. */
  get learnedLogBlocks(): number | null {
    const all = this.urls.flatMap(({ logRange }) => logRange.learned ?? [])
    return all.length === 0 ? null : Math.min(...all)
  }

  /** URLs for calls and subscriptions, without duplicates. */
  get allUrls(): readonly NodeUrl[] {
    return [...new Set<NodeUrl>([...this.urls, ...this.sockets])]
  }

  /** Oldest block of any URL per kind of data; unknown kinds are absent. */
  get oldestBlocks(): Readonly<Partial<Record<DataKind, number>>> {
    const all = dataKinds.map((kind) => {
      return [kind, Math.min(...this.urls.map(({ history }) => history.oldest(kind)))] as const
    })
    return Object.fromEntries(all.filter(([, block]) => block > 0))
  }

  lacks(read: Read): boolean {
    for (const { history } of this.urls) if (!history.lacks(read)) return false
    return true
  }

  serves(addons: readonly string[]): boolean {
    return this.urls.some((url) => url.serves(addons))
  }

  /** URLs that may serve such calls once verified; empty if one serves them already. */
  unverified(addons: readonly string[]): readonly NodeUrl[] {
    if (this.serves(addons)) return []
    return this.urls.filter((url) => url.verified === null && url.declares(addons))
  }

  /** URLs that can serve a read now, ordered by data, reliability, lag and position. */
  urlsFor(addons: readonly string[], read = anything): readonly NodeUrl[] {
    const able = this.urls.filter((url) => url.serves(addons))
    if (able.length < 2) return able
    const { name = '' } = read
    const lacks = ({ history, cooldown }: NodeUrl) =>
      Number(history.lacks(read)) + 2 * Number(cooldown.leftMsOf(name) > 0)
    return able.toSorted(
      (a, b) => lacks(a) - lacks(b) || a.failures - b.failures || a.lagBlocks - b.lagBlocks,
    )
  }

  /**
   * Records an answer of this URL, either a result or an error of the node itself.
   * @param latencyMs null if the latency is not comparable
   */
  succeeded(url: NodeUrl, latencyMs: number | null): void {
    const hadFailed = url.failures > 0
    this.answered(url)
    this.availability.succeeded()
    if (hadFailed) this.updateState()
    this.score.succeeded(latencyMs, this.#clock.nowMs())
  }

  /** Called when another node may answer at a URL: after a failure, or when a block changes. */
  onSuspect: ((url: NodeUrl) => void) | null = null

  /** Records that this URL answers, whatever it says. */
  answered(url: NodeUrl): void {
    const returns = url.failures > 0
    url.failures = 0
    url.lastResultMs = this.#clock.nowMs()
    if (returns) this.onSuspect?.(url)
  }

  /**
   * Records a failure of this URL. It does not count against the upstream while another URL works,
   * or if the URL is only for subscriptions. Failing calls of one client never disable the upstream
   * for others: they put it on trial, and a probe decides, if the chain has one.
   * @param isAnswer whether a client call failed, rather than a probe
   * @param cause the fault or the answer: calls of one batch have the same cause, which counts once
   * @returns whether the failure counts against the upstream
   */
  failed(
    url: NodeUrl,
    failure: CountedFailure,
    isAnswer = false,
    cause: object | null = null,
  ): boolean {
    if (failure.weight === 0 || (cause && cause === url.failedBy?.deref())) return false
    url.failedBy = cause && new WeakRef(cause)
    url.failures += 1
    url.lastFailure = failure.reason
    if (url.failures === 2) this.updateState()
    if (!this.urls.includes(url)) return false
    if (this.urls.some((other) => other.serves([]) && other.failures === 0)) return false
    const nowMs = this.#clock.nowMs()
    const wasOnTrial = this.availability.isOnTrial
    const reason = `${failure.reason}${this.allUrls.length > 1 ? ` at ${url.printable}` : ''}`
    this.availability.failed(failure.weight, reason, !isAnswer || !this.requestProbe)
    this.score.failed(nowMs)
    if (!wasOnTrial && this.availability.isDoubtful) this.requestProbe?.()
    return true
  }

  /**
   * A problem while it serves: repeated failures (`3 failures in a row, the last: probe:
   * connection-reset`), an unverified URL, or an unproven add-on.
   */
  get trouble(): string | null {
    const urls = this.allUrls
    const isSingle = urls.length === 1
    const out = urls.flatMap((url) => {
      const { fault, printable, cooldown, verified, position, record } = url
      // The state of an upstream with one URL already says that it is in cooldown.
      if (fault === null || url.isPending || (isSingle && cooldown.active)) return []
      if (isSingle) return verified === true ? fault : `${printable} is ${fault}`
      const since = record.since === null ? '' : ` since ${record.since.slice(11, 19)}`
      return `URL ${position} (${printable})${since}: ${fault}`
    })
    if (isSingle && out.length > 0) return out.join()
    if (out.length > 0) return [`${this.servingUrls} serving`, ...out].join('; ')
    for (const { verified, refusal, declaredAddons, addons, printable, archiveGap } of urls) {
      const missing = declaredAddons.filter((addon) => !addons.has(addon))
      if (verified && missing.length > 0)
        return `${printable} has not shown ${missing.join(', ')}: ${refusal}`
      if (archiveGap !== null)
        return `${printable} declares archive, but lacks old data: ${archiveGap}`
    }
    return null
  }

  /**
   * Records a late attempt, whose node may be dead or whose call may be slow. It counts as a
   * failure if the URL has answered nothing since the request, and once for all calls that are late
   * at a time.
   * @returns reverts the failure if the call proves slow; null if none was counted
   */
  late(url: NodeUrl, failure: CountedFailure, sentMs: number): (() => void) | null {
    const nowMs = this.#clock.nowMs()
    if (url.lastResultMs > sentMs) {
      this.score.failed(nowMs)
      return null
    }
    url.lastResultMs = nowMs
    const isCounted = this.failed(url, failure, true)
    // Another working URL does not shorten the wait.
    if (!isCounted) this.score.failed(nowMs)
    return () => {
      url.failures = Math.max(url.failures - 1, 0)
      if (isCounted) this.availability.excused(failure.weight)
    }
  }

  /** Records an attempt that was aborted before its answer. */
  recordCensoredLatency(elapsedMs: number): void {
    this.score.recordCensoredLatency(elapsedMs, this.#clock.nowMs())
  }

  /**
   * Records a fault that does not put the upstream out of service.
   * @param what description, in which `#` is replaced by the count
   * @param forMs time after which the fault expires
   * @param min count from which it is a fault
   */
  faulted(what: string, forMs: number, min = 1): void {
    const nowMs = this.#clock.wallMs()
    const known = this.#faults.get(what)
    const { count, sinceMs } = known && nowMs < known.untilMs ? known : { count: 0, sinceMs: nowMs }
    this.#faults.set(what, { count: count + 1, sinceMs, untilMs: nowMs + forMs, min })
  }

  /** `wrong about finalized blocks (votes lost: 39) since 13:15:07`; null without recent faults. */
  get fault(): string | null {
    const nowMs = this.#clock.wallMs()
    const recent = [...this.#faults].filter(
      ([, { untilMs, count, min }]) => nowMs < untilMs && count >= min,
    )
    const texts = recent.map(([what, { count, sinceMs }]) => {
      const said = what.replace('#', count.toLocaleString('en-US'))
      return `${said} since ${new Date(sinceMs).toISOString().slice(11, 19)}`
    })
    return texts.join('; ') || null
  }

  /** Starts the slow start of a recovered upstream. */
  rejoined(): void {
    this.#rejoinedMs = this.#clock.nowMs()
  }

  /** Progress of the slow start, in [0, 1]; 1 if it was never out of service. */
  earned(nowMs: number): number {
    return Math.min(1, (nowMs - this.#rejoinedMs) / rampMs)
  }
}
