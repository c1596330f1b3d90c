// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import type { NodeUrlConfig } from '../config/types.ts'
import { History } from '../tracker/history.ts'
import type { Cooldown } from './health.ts'
import type { UrlRecord } from './observer.ts'
import { RangeLimit } from './range-limit.ts'
import { RateLimit } from './rate-limit.ts'
import { SecretMask } from './secrets/mask.ts'
import type { SocketTransport, Transport } from './wire.ts'
import { counted } from '../words/counted.ts'

/** Minimum interval between verifications of a suspect URL. */
const suspectIntervalMs = 10_000

/** One URL of an upstream with its state. The URLs of an upstream fail over among themselves. */
export class NodeUrl<Wire extends Transport = Transport> {
  /** The URL as written in the config file: safe to print. */
  readonly printable: string
  /** Position in the list of the config, from 1. */
  position = 1
  readonly transport: Wire
  readonly cooldown: Cooldown
  /** Limits of the config, and a learned one; null if there is none. */
  limit: RateLimit | null
  /** Masks keys in everything that the node returns except results. */
  readonly mask: SecretMask
  readonly timeoutMs: number | null
  /** Requests to it carry a trace context. */
  readonly takesTrace: boolean
  readonly logRange: RangeLimit
  readonly skipVerifications: readonly string[]
  readonly declaredAddons: readonly string[]
  /** Declared add-ons, without those that failed verification. */
  addons: ReadonlySet<string>
  /** Declared add-ons that no verification could prove or disprove yet. */
  openAddons: ReadonlySet<string> = new Set()
  /** Null until the first verification ends. */
  verified: boolean | null = null
  /** The URL did not answer its first verification. */
  isUnreached = false
  /** The latest block that it reported since it was verified. */
  head: { readonly block: number; readonly atMs: number } | null = null
  /** Oldest data of its node. */
  history = new History()
  /** Number of passed verifications after head jumps. */
  jumpsPassed = 0
  /** Time of the last head jump, on the clock's monotonic scale. */
  jumpedMs = -Infinity
  /** Paths at which the node serves the router's own requests, where several are possible. */
  readonly servedPaths = new Map<string, string>()
  /** Consecutive failures. The URL with the fewest goes first. */
  failures = 0
  /** Blocks behind another URL of its upstream; 0 within the allowed lag. */
  lagBlocks = 0
  /** Why it seems to lack old data although it declares `archive`; null if it does not. */
  archiveGap: string | null = null
  /** When it was, or will be, verified as a suspect, on the monotonic scale. */
  #suspectedMs = -Infinity
  /** The reason of the last failure of a call or a probe. */
  lastFailure = ''
  /** Reason of the last failed verification: `chain-id: expected 0x1, the node reported 0x5`. */
  refusal = ''
  /** Cause of the last failure, so that a cause shared by several calls counts once. */
  failedBy: WeakRef<object> | null = null
  /**
   * When the URL last answered or timed out, on the clock's monotonic scale. A timeout of an
   * earlier request is ignored.
   */
  lastResultMs = -Infinity
  /** Since when it does not serve, as wall-clock time, and whether that was reported; else null. */
  out: { readonly sinceMs: number; isReported: boolean } | null = null

  constructor(config: NodeUrlConfig, transport: Wire, cooldown: Cooldown) {
    this.printable = config.url.toString()
    this.transport = transport
    this.cooldown = cooldown
    this.limit = config.limits && new RateLimit(cooldown.clock, config.limits)
    this.mask = new SecretMask(config)
    this.timeoutMs = config.timeoutMs
    this.takesTrace = config.traceContext
    this.logRange = new RangeLimit(config.maxLogBlocks, cooldown.clock)
    this.skipVerifications = config.skipVerifications
    this.declaredAddons = config.addons
    this.addons = new Set(config.addons)
  }

  /** Whether it can serve a call with these add-ons now. */
  serves(addons: readonly string[]): boolean {
    return !this.cooldown.active && this.isFor(addons)
  }

  /** Its state, as every surface shows it. */
  get record(): UrlRecord {
    const { position, printable, fault, out } = this
    const since = out && new Date(out.sinceMs).toISOString()
    return { position, url: printable, why: fault, since }
  }

  /** Whether its first verification has no result yet. */
  get isPending(): boolean {
    return this.verified === null && this.refusal === '' && !this.cooldown.active
  }

  /** Whether another verification may prove more than the last one. */
  get mayShowMore(): boolean {
    return this.verified !== true || this.openAddons.size > 0
  }

  /**
   * Another node may answer at this URL. An unreliable one is suspected often, so verifications
   * keep an interval.
   * @returns milliseconds until its verification; null if that is pending already
   */
  suspected(): number | null {
    const nowMs = this.cooldown.clock.nowMs()
    if (this.#suspectedMs > nowMs) return null
    const waitMs = Math.max(0, this.#suspectedMs + suspectIntervalMs - nowMs)
    this.#suspectedMs = nowMs + waitMs
    return waitMs
  }

  /** Its head jumped, so it serves only once it is verified again. */
  jumped(nowMs: number, why: string): void {
    this.head = null
    this.lagBlocks = 0
    this.jumpedMs = nowMs
    this.history = new History()
    this.verified = null
    this.isUnreached = false
    this.refusal = `head: ${why}`
  }

  /** Compares its head with earlier ones of the other URLs of its upstream that work. */
  compareHead(
    urls: readonly NodeUrl[],
    block: number,
    sentMs: number,
    { allowedLagBlocks }: Pick<Chain, 'allowedLagBlocks'>,
  ): void {
    let lagBlocks = 0
    for (const other of urls) {
      const { head, failures } = other
      const isKnown = other !== this && head !== null && head.atMs <= sentMs
      if (isKnown && failures === 0 && other.serves([]))
        lagBlocks = Math.max(lagBlocks, head.block - block)
    }
    this.lagBlocks = lagBlocks > allowedLagBlocks ? lagBlocks : 0
  }

  /** Whether it has passed verification with all add-ons that the config declares. */
  get hasPassed(): boolean {
    const { verified, declaredAddons, addons, archiveGap } = this
    return (
      verified === true && archiveGap === null && declaredAddons.every((each) => addons.has(each))
    )
  }

  /** Records that another process has verified it. */
  pass(): void {
    this.verified = true
    this.addons = new Set(this.declaredAddons)
    this.openAddons = new Set()
  }

  /** Why it does not serve; null while it serves. A single failure may be that of one call. */
  get fault(): string | null {
    const { failures, verified, cooldown, refusal, lagBlocks } = this
    if (cooldown.active) return cooldown.last.why
    if (failures > 1) return `${failures} failures in a row, the last: ${this.lastFailure}`
    if (verified !== true) return `not used: ${refusal || 'not verified yet'}`
    return lagBlocks > 0 ? `lags ${counted(lagBlocks, 'block')} behind another URL` : null
  }

  /** Milliseconds until its limits allow a request; Infinity: once another one ends. */
  get waitMs(): number {
    return this.limit === null ? 0 : this.limit.waitMs
  }

  /** Whether its limits allow a request now. */
  admits(): boolean {
    return this.limit === null || this.limit.admits()
  }

  /** Whether the config says that it has these add-ons. */
  declares(addons: readonly string[]): boolean {
    return addons.every((addon) => this.declaredAddons.includes(addon))
  }

  /** Like `serves`, but ignores the cooldown. */
  isFor(addons: readonly string[]): boolean {
    return this.verified === true && addons.every((addon) => this.addons.has(addon))
  }
}

export interface CountedFailure {
  /** `http-unavailable (HTTP 503: no healthy upstream)`. */
  readonly reason: string
  /** Number of failures that it counts as. */
  readonly weight: number
}

/** One WebSocket URL of an upstream. */
export type SocketUrl = NodeUrl<SocketTransport>
