// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../clock/clock.ts'
import type { ChosenUrl } from '../upstream/candidates.ts'
import { release } from '../upstream/wire.ts'
import { Attempt, type AttemptOwner } from './attempt.ts'
import type { Exchange } from './exchange.ts'
import type { AttemptKind, AttemptRecord, Call } from './call.ts'
import { CallAborted } from './errors.ts'
import { LimitWait } from './limit-wait.ts'
import { awaitsVerification, firstBackoffMs, maxBackoffMs, Needs, noReply } from './needs.ts'
import type { RelayContext } from './relay-context.ts'
import { morePreferred, replyRank, type Reply } from './reply.ts'
import { ViolationQuorum } from './violation-quorum.ts'

/** How long a rejection by one node waits for another node to accept. */
const refusalWaitMs = 3_000

/**
 * Sends a write to every eligible upstream at once. The first success is the answer; the other
 * attempts continue. If none succeeds in time, backups and disabled upstreams are tried one by one,
 * unless a node rejected the transaction. An upstream that the client selected is tried first: the
 * others get the write if it fails or is slow.
 */
export class Broadcast implements AttemptOwner {
  readonly #context: RelayContext
  readonly #call: Call
  readonly #needs: Needs
  readonly #resolve: (reply: Reply) => void
  readonly #reject: (error: unknown) => void
  readonly #limitWait: LimitWait
  readonly #running = new Set<Attempt>()
  /** The most informative error so far. */
  #refusal: Reply | null = null
  #best: Exchange | null = null
  readonly #suspects: ViolationQuorum
  /** Further tries of nodes that cannot have executed it, each after a pause. */
  #repeats = 0
  #mayRepeat = false
  #cancelWait: Cancel | null = null
  /** Only the upstream that the client selected has the write so far. */
  #isNamedAlone = false
  #isOver = false

  constructor(
    context: RelayContext,
    call: Call,
    resolve: (reply: Reply) => void,
    reject: (error: unknown) => void,
  ) {
    this.#context = context
    this.#call = call
    this.#needs = new Needs(call)
    this.#needs.untriedOnly = true
    this.#limitWait = new LimitWait(context, this.#needs)
    this.#suspects = new ViolationQuorum(context.validator)
    this.#resolve = resolve
    this.#reject = reject
  }

  start(nowMs: number): void {
    const named = this.#context.pool.pick.preferred(this.#needs)
    if (!named) return this.#sendToAll(nowMs)
    this.#isNamedAlone = true
    const attempt = this.#begin(named, 'first', nowMs)
    attempt.slowAfter(this.#context.hedging.delayMs(this.#call.method, attempt.budgetMs), nowMs)
  }

  slow(_attempt: Attempt, nowMs: number): void {
    this.#goOn(nowMs)
  }

  ended(attempt: Attempt, nowMs: number): void {
    const { exchange, defect } = attempt
    const { failure, reply, violation } = exchange
    this.#running.delete(attempt)
    if (defect) return this.#fail(defect)
    if (violation) {
      if (this.#suspects.add(exchange) && reply) return this.#answer(reply)
      if (this.#isOver) this.#suspects.blame()
    }
    if (failure === null && reply) return this.#replied(reply, nowMs)
    this.#best = morePreferred(this.#best, exchange)
    this.#goOn(nowMs)
  }

  #replied(reply: Reply, nowMs: number): void {
    if (reply.refusal === null) {
      this.#context.known.accepted(this.#call, reply)
      return this.#answer(reply)
    }
    if (this.#isOver) return release(reply.incoming.body)
    const known = this.#context.known.successFor(this.#call, reply)
    if (known || this.#isNamedAlone) return this.#answer(known ?? reply)
    const isBetter = replyRank(reply) > replyRank(this.#refusal)
    const lesser = isBetter ? this.#refusal : reply
    if (isBetter) this.#refusal = reply
    if (lesser) release(lesser.incoming.body)
    // A hanging node must not delay a clear refusal. Another one may accept what this one did not,
    // or wait for the block of a transaction that this one has from it.
    const isCopy = reply.refusal.transaction === 'known' && this.#call.method.waitsForBlock
    if (!reply.refusal.doubtful && !isCopy)
      this.#cancelWait ??= this.#context.clock.after(refusalWaitMs, () => this.#conclude())
    this.#goOn(nowMs)
  }

  #sendToAll(nowMs: number): void {
    this.#isNamedAlone = false
    const eligible = this.#context.pool.pick.all(this.#needs)
    const untried = eligible.filter(({ name }) => !this.#needs.tried(name))
    for (const upstream of untried) this.#begin(upstream, 'broadcast', nowMs)
    if (untried.length === 0) this.#goOn(nowMs)
  }

  #begin(
    upstream: Attempt['upstream'],
    kind: AttemptKind,
    nowMs: number,
    chosen?: ChosenUrl,
  ): Attempt {
    const attempt = new Attempt(this.#context, this, this.#call, upstream, kind, nowMs, chosen)
    this.#running.add(attempt)
    attempt.start(nowMs)
    return attempt
  }

  /** Tries another upstream after an attempt failed or became slow. */
  #goOn(nowMs: number): void {
    if (this.#isOver) return
    const { journal, signal } = this.#call
    const isSpent = journal.isSpent(nowMs)
    if (this.#isNamedAlone && !isSpent && !signal.aborted) return this.#sendToAll(nowMs)
    for (const { isLate } of this.#running) if (!isLate) return
    // A disconnected client gets no new attempt.
    if (this.#refusal === null && !isSpent && !signal.aborted) {
      const { pool, config } = this.#context
      this.#needs.untriedOnly = !(this.#mayRepeat && this.#isUnexecuted)
      const upstream = pool.pick.next(this.#needs, config.now.strategy, journal)
      const kind = journal.attempts.length === 0 ? 'first' : 'retry'
      if (upstream) {
        if (this.#isBusy) this.#mayRepeat = false
        return void this.#begin(upstream, kind, nowMs)
      }
      const isWaiting = this.#limitWait.begin(journal, nowMs, (chosen, endMs) => {
        if (chosen && !signal.aborted) return void this.#begin(chosen.upstream, kind, endMs, chosen)
        chosen?.url.limit?.end()
        this.#goOn(endMs)
      })
      if (isWaiting) return
    }
    if (this.#running.size > 0) return
    const { clock, pool } = this.#context
    if (!signal.aborted && awaitsVerification(journal, pool, this.#needs, nowMs))
      return void clock.after(firstBackoffMs, () => {
        if (signal.aborted) this.#conclude()
        else this.#sendToAll(clock.nowMs())
      })
    const isDone = this.#repeats > 0 && !this.#isBusy
    if (this.#refusal || isSpent || signal.aborted || isDone || !this.#isUnexecuted)
      return this.#conclude()
    const pauseMs = Math.min(firstBackoffMs * 2 ** this.#repeats++, maxBackoffMs)
    clock.after(Math.min(pauseMs, journal.deadlineMs - nowMs), () => {
      this.#mayRepeat = true
      this.#goOn(clock.nowMs())
    })
  }

  /** No upstream can have executed it: for example, nodes restart, or their queues are full. */
  get #isUnexecuted(): boolean {
    const { attempts } = this.#call.journal
    const isUnexecuted = (each: AttemptRecord) => each.isUnsent || isBusy(each)
    return attempts.length > 0 && attempts.every(isUnexecuted)
  }

  /** A node is busy, so it may accept the write in a moment. */
  get #isBusy(): boolean {
    return this.#call.journal.attempts.some(isBusy)
  }

  #conclude(): void {
    const reply = this.#refusal ?? this.#best?.fallback
    if (reply) this.#answer(reply)
    else if (this.#call.signal.aborted) this.#fail(new CallAborted())
    else this.#fail(noReply(this.#best?.fault ?? null, this.#call, this.#context.pool, this.#needs))
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
    this.#limitWait.cancel()
    this.#suspects.blame()
  }
}

function isBusy({ result }: AttemptRecord): boolean {
  return typeof result === 'object' && result?.busy === true
}
