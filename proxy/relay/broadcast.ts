// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../clock/clock.ts'
import { release } from '../upstream/wire.ts'
import { Attempt, type AttemptOwner } from './attempt.ts'
import type { AttemptKind, Call } from './call.ts'
import { CallAborted } from './errors.ts'
import { firstBackoffMs, Needs, noReply } from './needs.ts'
import type { RelayContext } from './relay-context.ts'
import { morePreferred, replyRank, type Reply } from './reply.ts'
import { ViolationQuorum } from './violation-quorum.ts'

/** How long a refusal waits for the success of another node. */
const refusalWaitMs = 3_000

/**
 * A write goes to every eligible upstream at once. The first success is the answer; the other attempts
 * run on. When none succeeds in time, backups and disabled upstreams are asked in turn, unless a node
 * refused the transaction for good. An upstream that the client names is asked first: the others get
 * the write when it fails or is slow.
 */
export class Broadcast implements AttemptOwner {
  readonly #parts: RelayContext
  readonly #call: Call
  readonly #needs: Needs
  readonly #resolve: (reply: Reply) => void
  readonly #reject: (error: unknown) => void
  readonly #running = new Set<Attempt>()
  /** The most informative error of a node. */
  #refusal: Reply | null = null
  #best: Attempt | null = null
  readonly #suspects: ViolationQuorum
  #isRepeated = false
  #cancelWait: Cancel | null = null
  /** The other upstreams wait for the one that the client named. */
  #isNamedAlone = false
  #isOver = false

  constructor(
    parts: RelayContext,
    call: Call,
    resolve: (reply: Reply) => void,
    reject: (error: unknown) => void,
  ) {
    this.#parts = parts
    this.#call = call
    this.#needs = new Needs(call)
    this.#needs.untriedOnly = true
    this.#suspects = new ViolationQuorum(parts.judge)
    this.#resolve = resolve
    this.#reject = reject
  }

  start(nowMs: number): void {
    const named = this.#parts.pool.pick.preferred(this.#needs)
    if (!named) return this.#sendToAll(nowMs)
    this.#isNamedAlone = true
    const attempt = this.#begin(named, 'first', nowMs)
    attempt.slowAfter(this.#parts.hedging.delayMs(this.#call.method, attempt.budgetMs), nowMs)
  }

  slow(_attempt: Attempt, nowMs: number): void {
    this.#goOn(nowMs)
  }

  ended(attempt: Attempt, nowMs: number): void {
    const { failure, reply, defect, violation } = attempt
    this.#running.delete(attempt)
    if (defect) return this.#fail(defect)
    if (violation) {
      if (this.#suspects.add(attempt) && reply) return this.#answer(reply)
      if (this.#isOver) this.#suspects.blame()
    }
    if (failure === null && reply) return this.#replied(reply, nowMs)
    this.#best = morePreferred(this.#best, attempt)
    this.#goOn(nowMs)
  }

  #replied(reply: Reply, nowMs: number): void {
    if (reply.refusal === null) {
      this.#parts.known.accepted(this.#call, reply)
      return this.#answer(reply)
    }
    if (this.#isOver) return release(reply.incoming.body)
    const known = this.#parts.known.successFor(this.#call, reply)
    if (known || this.#isNamedAlone) return this.#answer(known ?? reply)
    const isBetter = replyRank(reply) > replyRank(this.#refusal)
    const lesser = isBetter ? this.#refusal : reply
    if (isBetter) this.#refusal = reply
    if (lesser) release(lesser.incoming.body)
    // A node that hangs does not hold up what another one answered.
    this.#cancelWait ??= this.#parts.clock.after(refusalWaitMs, () => this.#conclude())
    this.#goOn(nowMs)
  }

  #sendToAll(nowMs: number): void {
    this.#isNamedAlone = false
    const eligible = this.#parts.pool.pick.all(this.#needs)
    const untried = eligible.filter(({ name }) => !this.#needs.tried(name))
    for (const upstream of untried) this.#begin(upstream, 'broadcast', nowMs)
    if (untried.length === 0) this.#goOn(nowMs)
  }

  #begin(upstream: Attempt['upstream'], kind: AttemptKind, nowMs: number): Attempt {
    const attempt = new Attempt(this.#parts, this, this.#call, upstream, kind, nowMs)
    this.#running.add(attempt)
    attempt.start(nowMs)
    return attempt
  }

  /** An attempt failed or is slow: asks another upstream, if there is one. */
  #goOn(nowMs: number): void {
    if (this.#isOver) return
    const { journal, signal } = this.#call
    const isSpent = journal.isSpent(nowMs)
    if (this.#isNamedAlone && !isSpent && !signal.aborted) return this.#sendToAll(nowMs)
    for (const { isLate } of this.#running) if (!isLate) return
    // No new attempt begins for a client that has left.
    if (this.#refusal === null && !isSpent && !signal.aborted) {
      const { pool, config } = this.#parts
      this.#needs.untriedOnly = !(this.#isRepeated && this.#isUnsent)
      const upstream = pool.pick.next(this.#needs, config.now.strategy, journal)
      const kind = journal.attempts.length === 0 ? 'first' : 'retry'
      if (upstream) return void this.#begin(upstream, kind, nowMs)
    }
    if (this.#running.size > 0) return
    if (this.#refusal || isSpent || signal.aborted || this.#isRepeated || !this.#isUnsent)
      return this.#conclude()
    this.#isRepeated = true
    const { clock } = this.#parts
    clock.after(firstBackoffMs, () => this.#goOn(clock.nowMs()))
  }

  /** No upstream can have seen the transaction: a node that restarts refuses connections. */
  get #isUnsent(): boolean {
    const { attempts } = this.#call.journal
    return attempts.length > 0 && attempts.every(({ isUnsent }) => isUnsent)
  }

  #conclude(): void {
    const reply = this.#refusal ?? this.#best?.fallback
    if (reply) this.#answer(reply)
    else if (this.#call.signal.aborted) this.#fail(new CallAborted())
    else this.#fail(noReply(this.#best?.fault ?? null, this.#call, this.#parts.pool, this.#needs))
  }

  #answer(reply: Reply): void {
    if (this.#isOver) return release(reply.incoming.body)
    this.#close()
    if (this.#refusal && this.#refusal !== reply) release(this.#refusal.incoming.body)
    this.#resolve(reply)
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#close()
    this.#reject(error)
  }

  #close(): void {
    this.#isOver = true
    this.#cancelWait?.()
    this.#suspects.blame()
  }
}
