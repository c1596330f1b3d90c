// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockTag, Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { RecentBlocks, type ShownBlock } from './recent-blocks.ts'
import { type Reorg, Reorgs } from './reorgs.ts'
import { hasJumped, type Head, lagOf, type SyncStatus, tipOf, whyOutdated } from './tip.ts'
import { counted } from '../words/counted.ts'

/** An upstream as the tracker sees it. Only the tracker writes these fields. */
export interface TrackedNode {
  readonly name: string
  /** Whether its head counts towards the tip. */
  readonly isInService: boolean
  latest: Head | null
  /** Null until first queried. */
  status: SyncStatus | null
  /** The tip at the time when `latest` was reported. */
  tipThen: number | null
  lagBlocks: number
  /** Why reads of the latest state prefer other upstreams; null if they do not. */
  lagReason: string | null
  /** A block that it showed above all heads; null once its own head has been queried. */
  ahead: Pick<Head, 'block' | 'atMs'> | null
  /** The highest block that it revealed above its own head, such as a preconfirmed one. */
  preconfirmed: number
  /** Queries its head now; null while it is not watched. */
  requestProbe: (() => void) | null
}

/** A shown block counts as gone if no head confirms it within the longer of these limits. */
const shownLife = { blocks: 3, minMs: 3_000 } as const
/** Minimum interval between status queries to a node that stays behind. */
const statusIntervalMs = 30_000
/** Minimum interval between updates for unchanged reports, because every answer may be one. */
const updateIntervalMs = 100
/** A node's head is not queried within this time of its last report. */
const probeIntervalMs = 500
const maxShownHashes = 1_024

type Shown = Pick<Head, 'block' | 'atMs'> & { readonly by: TrackedNode | null }

export interface TrackerOptions {
  readonly chain: Pick<Chain, 'allowedLagBlocks' | 'blockTimeMs'>
  readonly clock: Clock
  /** Called for each reorg that two upstreams, or the only one in use, have shown. */
  readonly reorged?: (reorg: Reorg) => void
}

/** What this process knows about a running chain, across its interfaces. */
export class ChainTracker {
  /** The latest block of the chain; null until an upstream in service reports one. */
  tip: number | null = null
  /** Time of the last client request, on the clock's monotonic scale. */
  lastRequestMs = 0
  /** Number of subscribed clients. */
  subscriptions = 0
  readonly #options: TrackerOptions
  readonly #pools: { readonly upstreams: readonly TrackedNode[] }[] = []
  #roseMs: number | null = null
  #reportedMs = 0
  #updatedMs = -Infinity
  #shown: Shown = { block: 0, atMs: -Infinity, by: null }
  #peak = { block: 0, atMs: -Infinity }
  #lastShown = 0
  readonly #recent = new RecentBlocks()
  /** Hashes that clients have seen, of blocks and transactions. */
  readonly #shownHashes = new Set<string>()
  /** The highest shown block of each tag that trails the head. */
  readonly #tagged = new Map<BlockTag, number>()
  readonly #branchListeners: (() => void)[] = []
  readonly #reorgs: Reorgs
  /** Increments when a block is replaced, because state near the head may have changed. */
  branch = 0
  /** Increments with `branch`, and when a client sees newer state without a block number. */
  revision = 0
  /** Number of answered calls that may have sent a transaction. */
  writes = 0
  /** Wall-clock time of the last change of `revision`. */
  revisedWallMs = -Infinity
  /** Wall-clock time of the last request, by hash, for a block on another branch. */
  doubtedWallMs = -Infinity

  constructor(options: TrackerOptions) {
    this.#options = options
    this.#reorgs = new Reorgs(options.clock)
  }

  /** Recent reorgs, if they are unusual for the chain; else null. */
  get reorgNotice(): string | null {
    return this.#reorgs.notice
  }

  /** The highest block that clients may have seen recently, in any answer; 0 if none. */
  get highestShown(): number {
    const highest = this.#unexpired(this.#shown)
    // The chain moved to another branch, or the node that was ahead has left.
    if (highest < this.#lastShown) this.branchChanged()
    return (this.#lastShown = highest)
  }

  /** The highest plausible recent head; 0 if none. Heads fluctuate if nodes share a URL. */
  get highestHead(): number {
    return this.#unexpired(this.#peak)
  }

  #unexpired({ block, atMs }: Pick<Head, 'block' | 'atMs'>): number {
    const { chain, clock } = this.#options
    const lifeMs = Math.max(shownLife.blocks * chain.blockTimeMs, shownLife.minMs)
    return clock.nowMs() - atMs <= lifeMs ? block : 0
  }

  /**
   * Records that a client sees this block. The node may lack its state, because a receipt may
   * precede the block.
   * @param by the node that showed it; null if another replica stored it
   * @returns false if the number is implausible: it is ignored, but the latest state may differ
   */
  show(block: number, by: TrackedNode | null = null): boolean {
    const mayExist = this.#mayExist(block)
    const isAbove = block > this.highestHead
    // No node's latest state includes a preconfirmed block, so it invalidates no cached answer.
    if (!mayExist || (isAbove && block <= (by?.preconfirmed ?? 0))) this.revise()
    else if (block >= this.highestShown) {
      const atMs = this.#options.clock.nowMs()
      this.#shown = { block, atMs, by }
      if (by && isAbove && !by.ahead && block > (by.latest?.block ?? -1)) {
        by.ahead = { block, atMs }
        // On a chain with fast blocks, the regular poll comes soon enough.
        if (atMs - (by.latest?.atMs ?? -Infinity) >= probeIntervalMs) by.requestProbe?.()
      }
    }
    return mayExist
  }

  /** If a node reports a head below a block that it revealed before, that block is preconfirmed. */
  #settleAhead(node: TrackedNode, head: number, sentMs: number): void {
    const { ahead } = node
    if (!ahead || sentMs < ahead.atMs) return
    node.ahead = null
    if (head >= ahead.block) return
    node.preconfirmed = ahead.block
    if (this.#shown.by !== node) return
    this.#shown = { ...this.#peak, by: null }
    this.#lastShown = this.highestHead
    this.revise()
  }

  /** Whether the chain can have grown to this block since the tip last rose. */
  #mayExist(block: number): boolean {
    const { tip } = this
    if (tip === null || block <= tip) return true
    const { chain, clock } = this.#options
    const nowMs = clock.nowMs()
    const head = { block: tip, atMs: this.#roseMs ?? nowMs }
    return !hasJumped({ head, jumpsPassed: 0 }, block, nowMs, chain)
  }

  /** Like `show`, for a block with its hash. */
  showBlock(block: ShownBlock, by: TrackedNode | null = null): boolean {
    if (!this.show(block.number, by)) return false
    const change = this.#recent.observe(block, this.highestShown)
    if (change === 'replaced') {
      this.branchChanged()
      for (const replaced of this.#branchListeners) replaced()
    } else if (change === 'doubtful') {
      // The block may be on another branch, or abandoned long ago.
      this.branch += 1
      this.revise()
      this.doubtedWallMs = this.revisedWallMs
    }
    const reorg = by && this.#reorgs.observe(block, by.name, this.#lastShown)
    if (reorg) this.#options.reorged?.(reorg)
    return true
  }

  /**
   * Records that a client sees a block of unknown number.
   * @param method set for the hash of a request: each method may show another state of the object
   */
  showHash(hash: string, method = ''): void {
    if (!this.#shownHashes.has(hash) && this.rememberHash(method + hash)) this.revise()
  }

  /** Records that a client sees the block of this hash. @returns whether the hash is new */
  rememberHash(hash: string): boolean {
    if (this.#shownHashes.has(hash)) return false
    const [oldest = ''] = this.#shownHashes
    if (this.#shownHashes.size >= maxShownHashes) this.#shownHashes.delete(oldest)
    this.#shownHashes.add(hash)
    return true
  }

  /** Records that a client sees the block of a tag that trails the head, such as `finalized`. */
  showTagged(tag: BlockTag, block: number): void {
    if (block <= (this.#tagged.get(tag) ?? 0) || !this.#mayExist(block)) return
    this.#tagged.set(tag, block)
    this.revise()
  }

  /** The number of a block that was shown recently; null if unknown. */
  numberOf(hash: string | null): number | null {
    return this.#recent.numberOf(hash)
  }

  /** Returns a conflicting parent of a recent block, and forgets it; null if there is none. */
  otherParent(hash: string, parent: string): string | null {
    return this.#recent.otherParent(hash, parent)
  }

  /** Registers a listener for blocks replaced here. `branchChanged` handles other replicas. */
  onReplaced(replaced: () => void): void {
    this.#branchListeners.push(replaced)
  }

  /** State near the head may have changed. */
  branchChanged(): void {
    this.branch += 1
    this.#shownHashes.clear()
    this.#peak.atMs = -Infinity
    this.revise()
  }

  /** Records an answer that names no block and may be newer than all known blocks. */
  revise(): void {
    this.revision += 1
    this.revisedWallMs = this.#options.clock.wallMs()
  }

  /** Adds the upstreams of one interface of the chain. */
  join(pool: { readonly upstreams: readonly TrackedNode[] }): void {
    this.#pools.push(pool)
  }

  /** Time from the last rise of the tip to the last head report; null until the tip is known. */
  get tipAgeMs(): number | null {
    if (this.tip === null || this.#roseMs === null) return null
    // The tip also rises when a node with an earlier report enters service.
    return Math.max(0, this.#reportedMs - this.#roseMs)
  }

  /**
   * Records a node's latest block.
   * @param sentMs when the request was sent: a reordered report does not lower the head
   * @param ageMs the time since the node reported it to another replica
   */
  observeHead(node: TrackedNode, block: number, sentMs: number, ageMs = 0): void {
    const before = node.latest
    if (before && block < before.block && sentMs < before.atMs) return
    this.#settleAhead(node, block, sentMs)
    const nowMs = this.#options.clock.nowMs()
    this.#reportedMs = nowMs
    const isHigher = before === null || block > before.block
    // The status described a different head.
    if (before && block < before.block - this.#options.chain.allowedLagBlocks) node.status = null
    const reportedMs = Math.max(nowMs - ageMs, before?.atMs ?? -Infinity)
    node.latest = { block, atMs: reportedMs, roseMs: isHigher ? reportedMs : before.roseMs }
    this.show(block)
    const isKnown = block === before?.block && node.tipThen === this.tip
    if (isKnown && nowMs - this.#updatedMs < updateIntervalMs) return this.#raisePeak(node, nowMs)
    this.#setTip(nowMs)
    this.#raisePeak(node, nowMs)
    // The tip at an earlier time is unknown.
    node.tipThen = reportedMs < nowMs ? null : this.tip
    this.#updateLag(nowMs)
  }

  /** Records a node's progress. */
  observeStatus(node: TrackedNode, status: SyncStatus): void {
    node.status = status
    this.update()
  }

  /** Recomputes tip and lag after an upstream entered or left service. */
  update(): void {
    const nowMs = this.#options.clock.nowMs()
    this.#setTip(nowMs)
    this.#updateLag(nowMs)
  }

  /** Whether a new status could change the tip or the lag. Lagging nodes are queried rarely. */
  needsStatus({ latest, status, lagReason, lagBlocks }: TrackedNode): boolean {
    if (status === null) return true
    if (latest === null || (lagReason === null && latest.block <= (this.tip ?? 0))) return false
    const { chain, clock } = this.#options
    const hasCaughtUp = lagBlocks <= chain.allowedLagBlocks && latest.roseMs >= status.atMs
    return hasCaughtUp || clock.nowMs() - status.atMs >= statusIntervalMs
  }

  #setTip(nowMs: number): void {
    const before = this.tip
    this.tip = tipOf(this.#reported(), this.#options.chain)
    if (this.tip !== null && this.tip > (before ?? -1)) this.#roseMs = nowMs
  }

  /** Raises the highest head to that of a node, if the chain can have grown that far. */
  #raisePeak({ isInService, latest }: TrackedNode, nowMs: number): void {
    const { tip } = this
    if (tip === null || latest === null) return
    const counts = isInService && this.#mayExist(latest.block)
    const highest = counts ? Math.max(latest.block, tip) : tip
    // If the tip falls far, it corrects one node's false claim.
    if (highest < this.highestHead && this.#mayExist(this.#peak.block)) return
    this.#peak = { block: highest, atMs: nowMs }
  }

  #updateLag(nowMs: number): void {
    const { chain } = this.#options
    this.#updatedMs = nowMs
    const all = this.#reported()
    for (const pool of this.#pools) {
      for (const node of pool.upstreams) {
        const { latest, status, tipThen } = node
        node.lagBlocks = lagOf(latest, tipThen, this.tip, nowMs, chain.blockTimeMs)
        const isBehind = node.lagBlocks > chain.allowedLagBlocks
        const own = latest && whyOutdated({ head: latest, status }, all, chain)
        const blocks = isBehind ? `${counted(node.lagBlocks, 'block')} behind the tip` : null
        node.lagReason = own && blocks ? `${own}; ${blocks}` : (own ?? blocks)
      }
    }
  }

  #reported() {
    return this.#pools.flatMap(({ upstreams }) =>
      upstreams.flatMap(({ latest: head, status, isInService }) =>
        head && isInService ? [{ head, status }] : [],
      ),
    )
  }
}
