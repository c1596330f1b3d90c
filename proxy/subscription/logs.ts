// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff } from '../clock/backoff.ts'
import type { Cancel, Clock } from '../clock/clock.ts'
import { isTemporary } from './ask.ts'
import { FailureDeadline } from './failure-deadline.ts'
import type { Block, FetchLogs, Position } from './family.ts'
import { markRemoved } from './families/ethereum-logs.ts'
import type { Sequence, SequenceListener } from './sequence.ts'
import type { SubscriptionObserver } from './subscriptions.ts'

/** Blocks that are asked about at the same time. */
const atOnce = 8
/** What an event takes beside its bytes. */
const bytesPerEvent = 200
const retryBackoff = { firstMs: 250, maxMs: 10_000 }

export interface LogsOptions {
  readonly name: string
  readonly filter: object
  readonly fetchLogs: FetchLogs
  readonly clock: Clock
  readonly observer: Pick<SubscriptionObserver, 'fetchFailed' | 'ended' | 'failed'>
  readonly sequence: Pick<Sequence, 'upstream' | 'observedSinceMs'>
  readonly maxGapBlocks: number
  /** What keeps failing for so long ends the topic. */
  readonly failureLimitMs: number
  /** Bytes of sent logs that are kept, for the case that a reorganisation removes them. */
  mostKeptBytes(): number
}

export interface LogsListener {
  event(event: Uint8Array): void
  ended(reason: string): void
}

/** A block whose logs are still to be sent. */
interface Pending {
  readonly position: Position
  readonly removed: AbortController
  logs: readonly Uint8Array[] | null
  state: 'new' | 'asked' | 'failed'
}

/** The logs that were sent of a block. */
interface Sent {
  readonly position: Position
  readonly logs: readonly Uint8Array[]
  readonly bytes: number
}

/**
 * Sends the logs of each block of a sequence that fit a filter: in the blocks' order, all, once. Those
 * of a block that is replaced are sent again with `removed: true`.
 */
export class LogsTopic implements SequenceListener {
  readonly #options: LogsOptions
  readonly #listener: LogsListener
  readonly #deadline: FailureDeadline
  readonly #backoff = new Backoff(retryBackoff)
  readonly #pending: Pending[] = []
  readonly #sent = new Map<string, Sent>()
  #keptBytes = 0
  /** Of the blocks up to this one more logs were sent than are kept. */
  #forgottenUpTo: number | null = null
  #isClosed = false
  #cancelRetry: Cancel = () => {}

  constructor(options: LogsOptions, listener: LogsListener) {
    const { clock, failureLimitMs, sequence } = options
    this.#options = options
    this.#listener = listener
    this.#deadline = new FailureDeadline(clock, failureLimitMs, sequence)
  }

  get keptBytes(): number {
    return this.#keptBytes
  }

  appended({ number, id, parent }: Block): void {
    const { maxGapBlocks } = this.#options
    const position = { number, id, parent }
    this.#pending.push({ position, removed: new AbortController(), logs: null, state: 'new' })
    if (this.#pending.length > maxGapBlocks + 1)
      return this.#end(`the events of more than ${maxGapBlocks} blocks could not be fetched`)
    this.#fetchNext()
  }

  removed(position: Position): void {
    const newest = this.#pending.at(-1)
    if (newest?.position.id === position.id) {
      newest.removed.abort()
      this.#pending.pop()
      if (this.#pending.length === 0) this.#succeeded()
      return
    }
    const sent = this.#sent.get(position.id)
    if (sent) {
      this.#forget(sent)
      for (const log of sent.logs.toReversed()) this.#listener.event(markRemoved(log))
    } else if (position.number <= (this.#forgottenUpTo ?? -1))
      this.#end('a reorganisation takes back more than is remembered')
  }

  ended(reason: string): void {
    if (this.#isClosed) return
    this.close()
    this.#listener.ended(reason)
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry()
    for (const { removed } of this.#pending) removed.abort()
    this.#pending.length = 0
    this.#sent.clear()
    this.#keptBytes = 0
  }

  #fetchNext(): void {
    for (const block of this.#pending.slice(0, atOnce))
      if (block.state === 'new') void this.#fetch(block)
  }

  async #fetch(block: Pending): Promise<void> {
    const { fetchLogs, filter, sequence, observer, name } = this.#options
    const { signal } = block.removed
    // The upstream that reported the block has it; when that one fails, the pool chooses.
    const prefer = block.state === 'new' ? sequence.upstream : null
    block.state = 'asked'
    try {
      block.logs = await fetchLogs(block.position, filter, prefer, signal)
      if (!signal.aborted) this.#send()
    } catch (error) {
      if (signal.aborted) return
      if (isTemporary(error)) return this.#failed(block, error)
      observer.failed(name, error)
      this.ended('internal error')
    }
  }

  /** Nothing is sent before the first block: the others are asked about again when they are the first. */
  #failed(block: Pending, error: Error): void {
    block.state = 'failed'
    if (block !== this.#pending[0]) return
    const { clock, observer, name } = this.#options
    observer.fetchFailed(name, this.#deadline.failed(), error.message)
    if (this.#deadline.isOver)
      return this.#end(`the events of block ${block.position.number} could not be fetched`)
    this.#cancelRetry = clock.after(this.#backoff.next(), () => void this.#fetch(block))
  }

  #send(): void {
    if (!this.#pending[0]?.logs) return
    for (let block = this.#pending[0]; block?.logs; block = this.#pending[0]) {
      this.#pending.shift()
      this.#keep(block.position, block.logs)
      for (const log of block.logs) this.#listener.event(log)
    }
    this.#succeeded()
    if (this.#pending[0]?.state === 'failed') void this.#fetch(this.#pending[0])
    this.#fetchNext()
  }

  #succeeded(): void {
    this.#cancelRetry()
    this.#backoff.reset()
    this.#deadline.reset()
  }

  #end(reason: string): void {
    this.#options.observer.ended(this.#options.name, reason)
    this.ended(reason)
  }

  #keep(position: Position, logs: readonly Uint8Array[]): void {
    const { maxGapBlocks, mostKeptBytes } = this.#options
    if (logs.length > 0) {
      const bytes = logs.reduce((sum, { length }) => sum + length + bytesPerEvent, 0)
      this.#sent.set(position.id, { position, logs, bytes })
      this.#keptBytes += bytes
    }
    const most = mostKeptBytes()
    for (const oldest of this.#sent.values()) {
      if (this.#keptBytes <= most && this.#sent.size <= maxGapBlocks) break
      this.#forget(oldest)
      this.#forgottenUpTo = oldest.position.number
    }
  }

  #forget({ position, bytes }: Sent): void {
    this.#sent.delete(position.id)
    this.#keptBytes -= bytes
  }
}
