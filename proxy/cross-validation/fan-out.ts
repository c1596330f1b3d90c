// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ByteBudget, Held } from '../bytes/byte-budget.ts'
import { nodeLimits } from '../bytes/limits.ts'
import type { BlockRef } from '../chain/types.ts'
import { Cancellation } from '../clock/cancellation.ts'
import type { Cancel, Clock } from '../clock/clock.ts'
import type { ApiInterface } from '../config/types.ts'
import { type Call, Journal } from '../relay/call.ts'
import { CallAborted, errorKinds, overloaded, RelayError } from '../relay/errors.ts'
import { canPin, commonBlock, pinned } from '../relay/pin.ts'
import type { Relay } from '../relay/relay.ts'
import { type Reply, rankOf } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import { digestOf, decide, type Decision, type Vote } from './vote.ts'
import type { Participants, ParticipantsOptions } from './participants.ts'

export interface FanOutOptions extends ParticipantsOptions {
  readonly relay: Relay
  readonly participants: Participants
  readonly apiInterface: ApiInterface
  readonly clock: Clock
  readonly budget: ByteBudget
  /** After this another upstream is asked beside a slow one. */
  readonly patienceMs: number
}

interface Participant {
  readonly upstream: Upstream
  readonly cancellation: Cancellation
  readonly journal: Journal
  cancelLateness: Cancel
  state: 'pending' | 'late' | 'voted' | 'absent'
}

/** A vote with what was voted for. */
export interface Ballot extends Vote {
  readonly by: Upstream
  readonly reply: Reply
  readonly body: Uint8Array
  readonly excerpt: string
}

export interface Result {
  readonly decision: Exclude<Decision, { kind: 'open' }>
  readonly ballots: readonly Ballot[]
  readonly asked: readonly Upstream[]
  /** What was asked about: one block, where the call was about the latest one. */
  readonly block: BlockRef
}

/**
 * Asks several upstreams the same and counts their votes. One that fails, is limited, or is late is replaced while
 * another may be asked; a late one may still vote. It holds the answers until there is one for the client.
 */
export class FanOut extends Held {
  readonly #options: FanOutOptions
  #call: Call
  readonly #result = Promise.withResolvers<Result>()
  readonly #all: Participant[] = []
  readonly #ballots: Ballot[] = []
  /** Errors that another upstream might not return. */
  readonly #weak: Ballot[] = []
  #isOver = false
  readonly #leave = () => this.#fail(new CallAborted())

  constructor(options: FanOutOptions) {
    super(options.budget)
    this.#options = options
    this.#call = options.call
  }

  /** @throws CallAborted when the client left */
  run(): Promise<Result> {
    const { call, pool, terms, participants } = this.#options
    if (call.signal.aborted) throw new CallAborted()
    call.signal.addEventListener('abort', this.#leave, { once: true })
    const slots = Array.from({ length: Math.min(terms.participants, pool.upstreams.length) })
    const chosen = slots.flatMap(() => participants.next(call.asked.block) ?? [])
    const block = canPin(call) ? commonBlock(chosen, terms.agreement) : null
    if (block !== null)
      this.#call = pinned(call, Math.max(block, call.directives.minBlock ?? 0)) ?? call
    for (const upstream of chosen) this.#ask(upstream)
    this.#settle()
    return this.#result.promise
  }

  #ask(upstream: Upstream): void {
    const { relay, pool, clock, patienceMs } = this.#options
    const { shared: _, ...call } = this.#call
    const others = pool.upstreams.filter((each) => each !== upstream).map(({ name }) => name)
    const journal = new Journal(call.journal.startedMs)
    journal.clientDeadlineMs = call.journal.clientDeadlineMs
    const late = () => this.#lost(participant, 'late')
    const participant: Participant = {
      ...{ upstream, journal, cancellation: new Cancellation() },
      ...{ cancelLateness: clock.after(patienceMs, late), state: 'pending' },
    }
    this.#all.push(participant)
    const directives = {
      ...call.directives,
      ...{ selectProvider: null, stickiness: null, blockProviders: others },
    }
    relay({ ...call, directives, signal: participant.cancellation, journal })
      .then((reply) => this.#received(participant, reply))
      .catch((error: unknown) => {
        const isUnanswered = error instanceof RelayError && error.kind !== errorKinds.overloaded
        if (isUnanswered || error instanceof CallAborted || isStreamFailure(error))
          this.#lost(participant, 'absent')
        else this.#fail(error)
      })
  }

  async #received(participant: Participant, reply: Reply): Promise<void> {
    const { incoming } = reply
    const rank = rankOf(reply)
    // Too late, a page, or a limit.
    if (this.#isOver || rank < 3) {
      release(incoming.body)
      return this.#lost(participant, 'absent')
    }
    // Longer answers are not compared: their upstreams are absent.
    const body = await wholeBody(incoming.body, nodeLimits.wholeBytes, this.budget, overloaded)
    if (this.#isOver || body === null) return this.#lost(participant, 'absent')
    this.hold(body.length)
    const ballot = this.#ballotOf(participant.upstream, reply, body)
    if (rank < 5) this.#weak.push(ballot)
    if (rank < 5) return this.#lost(participant, 'absent')
    participant.cancelLateness()
    participant.state = 'voted'
    // Two of a group answer where the first of them was late.
    const { oneVotePerGroup } = this.#options.terms
    const isSecond = oneVotePerGroup && this.#ballots.some(({ group }) => group === ballot.group)
    if (!isSecond) this.#ballots.push(ballot)
    this.#settle()
  }

  #ballotOf(by: Upstream, reply: Reply, body: Uint8Array): Ballot {
    const { apiInterface, terms } = this.#options
    const voter = { upstream: by.name, group: by.group, by, body }
    const whole = { ...reply, incoming: { ...reply.incoming, body } }
    // Most honest answers are the same to the byte, and need not be parsed.
    const same = this.#ballots.find(
      (each) => each.reply.refusal === reply.refusal && Buffer.compare(each.body, body) === 0,
    )
    if (same) return { ...same, ...voter, reply: whole }
    return { ...voter, ...digestOf(reply, body, apiInterface, terms.ignoreFields), reply: whole }
  }

  /** It has no vote, or none yet: another one is asked. */
  #lost(participant: Participant, state: 'late' | 'absent'): void {
    if (this.#isOver) return
    const wasPending = participant.state === 'pending'
    participant.cancelLateness()
    participant.state = state
    if (wasPending) {
      this.#options.participants.absent(participant.upstream)
      const { participants, terms } = this.#options
      const mayAsk = this.#all.length < terms.maxParticipants
      const next = mayAsk ? participants.next(this.#call.asked.block) : null
      if (next) this.#ask(next)
    }
    this.#settle()
  }

  #settle(): void {
    if (this.#isOver) return
    const { terms } = this.#options
    const count = (state: Participant['state']) =>
      this.#all.filter((each) => each.state === state).length
    let ballots = this.#ballots
    let decision = decide(ballots, terms, count('pending'), count('late'))
    // Where no upstream has better, an error that all return is the answer.
    if (decision.kind === 'failed' && ballots.length === 0)
      decision = decide((ballots = this.#weak), terms, 0)
    if (decision.kind === 'open') return
    const asked = this.#all.map(({ upstream }) => upstream)
    this.#close()
    this.#result.resolve({ decision, ballots, asked, block: this.#call.asked.block })
  }

  #fail(error: unknown): void {
    this.#close()
    this.#result.reject(error)
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.finish()
    this.#call.signal.removeEventListener('abort', this.#leave)
    for (const { cancellation, cancelLateness, journal } of this.#all) {
      cancelLateness()
      cancellation.abort()
      this.#call.journal.attempts.push(...journal.attempts)
    }
  }
}
