// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

/** Blocks per request while the limit is unknown. Most providers accept this many. */
const firstBlocks = 2_000
/** Answers of the full size after which a URL gets twice as many blocks. */
const winsToGrow = 8
/** Logs per request that every provider accepts. */
const firstLogs = 100
/** Share of a limit of logs that a request aims at, because blocks differ. */
const fill = 0.8
/** A learned limit is probed again after this time, because a plan may change. */
const learnedMs = 60 * 60_000
/** How long a filter that was too much work bounds the first requests of other filters. */
const workMs = 10 * 60_000
/** Minimum of that bound, so that one costly filter hardly slows down others. */
const leastWork = 50

/**
 * Blocks that a URL accepts in one request for logs, configured or learned from its answers, and
 * logs that it returns for one.
 */
export class RangeLimit {
  readonly #clock: Clock
  readonly #isConfigured: boolean
  #blocks: number
  /** Answers of the full size since the limit last grew. */
  #wins = 0
  /** Until when the limit does not grow, since the node named or showed it; null if it did not. */
  #fixedUntilMs: number | null = null
  /** Most logs of an answer. */
  #returned = 0
  /** Most logs that it accepts; Infinity until it refuses some number. */
  #maxLogs = Infinity
  #maxLogsUntilMs = 0
  #workBlocks = Infinity
  #workUntilMs = 0

  constructor(configured: number | null, clock: Clock) {
    this.#clock = clock
    this.#isConfigured = configured !== null
    this.#blocks = configured ?? firstBlocks
  }

  /** Blocks that one request may have. */
  get blocks(): number {
    return this.#blocks
  }

  /** The limit that the node named or showed; null without one. */
  get learned(): number | null {
    return this.#fixedUntilMs === null ? null : this.#blocks
  }

  /** Blocks that a filter of unknown cost may ask for. */
  get workBlocks(): number {
    return this.#clock.nowMs() < this.#workUntilMs ? this.#workBlocks : Infinity
  }

  /** Logs to aim at with one request: up to twice as many as it has returned before. */
  get logs(): number {
    if (this.#clock.nowMs() < this.#maxLogsUntilMs) return this.#maxLogs * fill
    return 2 * Math.max(firstLogs, this.#returned)
  }

  /** Most logs that it is known to return for one request. */
  get provenLogs(): number {
    return Math.max(firstLogs, this.#returned)
  }

  /** @param logs how many it returned; 0 if that is unknown */
  answered(size: number, logs: number): void {
    this.#returned = Math.max(this.#returned, logs)
    this.#maxLogs = Math.max(this.#maxLogs, logs)
    if (this.#isConfigured) return
    // An answer disproves a smaller limit.
    this.#blocks = Math.max(this.#blocks, size)
    this.#wins += size === this.#blocks ? 1 : 0
    if (this.#wins < winsToGrow || this.#clock.nowMs() < (this.#fixedUntilMs ?? 0)) return
    this.#blocks *= 2
    this.#wins = 0
    this.#fixedUntilMs = null
  }

  /** @param named blocks that the node accepts, if its error says so */
  refused(size: number, named: number | null): void {
    if (this.#isConfigured) return
    const fits = named !== null && named < size ? named : Math.max(1, Math.floor(size / 2))
    // An older, larger request may be refused later.
    this.#blocks = Math.min(this.#blocks, fits)
    this.#wins = 0
    this.#fixedUntilMs = this.#clock.nowMs() + learnedMs
  }

  /** The request took too long, or met a limit that the node does not name. */
  refusedWork(size: number): void {
    this.#workBlocks = Math.max(leastWork, Math.min(this.workBlocks, Math.ceil(size / 2)))
    this.#workUntilMs = this.#clock.nowMs() + workMs
  }

  /** @param logs estimate for the refused request, which may have had more */
  refusedLogs(logs: number): void {
    // Either these blocks have many more logs, or the node accepts fewer than before.
    if (logs <= this.#returned) this.#returned /= 2
    else {
      this.#maxLogs = Math.max(this.#returned, logs / 2)
      this.#maxLogsUntilMs = this.#clock.nowMs() + learnedMs
    }
  }
}
