// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ByteBudget, Reservation } from '../bytes/byte-budget.ts'
import { nodeLimits } from '../bytes/limits.ts'
import type { BlockRef, Chain, ChainInterface } from '../chain/types.ts'
import { Cancellation } from '../clock/cancellation.ts'
import type { Cancel, Clock } from '../clock/clock.ts'
import type { Live, RelayConfig } from '../config/types.ts'
import { type Call, Journal } from '../relay/call.ts'
import { CallAborted, errorKinds, overloaded, RelayError } from '../relay/errors.ts'
import { usualBudgetMs } from '../relay/hedge.ts'
import type { Relay } from '../relay/relay.ts'
import { type Reply, replyRank, type WholeIncoming } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import { pinnedForAll } from './pinned-tags.ts'
import { nextOf, type Participant, type ParticipantsOptions } from './participants.ts'
import { digestOf, decide, type Decision, type Vote } from './vote.ts'

export interface FanOutOptions extends ParticipantsOptions {
  readonly relay: Relay
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly config: Live<Pick<RelayConfig, 'strategy' | 'minRelayTimeoutMs'>>
  readonly clock: Clock
  readonly budget: ByteBudget
}

interface Attempt extends Participant {
  readonly cancellation: Cancellation
  readonly journal: Journal
  cancelLateness: Cancel
}

/** A vote with its full answer. */
export interface Ballot extends Vote {
  readonly upstream: string
  readonly by: Upstream
  readonly reply: Reply & { readonly incoming: WholeIncoming }
  readonly excerpt: string
}

export interface Result extends Decision {
  readonly ballots: readonly Ballot[]
  readonly queried: readonly Upstream[]
  /** The requested block, which is a pinned one if the call was for the latest. */
  readonly block: BlockRef
}

/**
 * Sends a call to several upstreams and counts their votes. It replaces an upstream that fails, is
 * limited, or is late, if it can; a late one may still vote. Until it ends, it holds the answers.
 */
export class FanOut extends Reservation {
  readonly #options: FanOutOptions
  #call: Call
  readonly #result = Promise.withResolvers<Result>()
  readonly #all: Attempt[] = []
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

  /** @throws CallAborted when the client leaves */
  run(): Promise<Result> {
    const { call, pool, terms } = this.#options
    if (call.signal.aborted) throw new CallAborted()
    call.signal.addEventListener('abort', this.#leave, { once: true })
    const slots = Array.from({ length: Math.min(terms.participants, pool.upstreams.length) })
    const chosen = slots.flatMap(() => this.#choose() ?? [])
    this.#start(chosen).catch((error: unknown) => this.#fail(error))
    return this.#result.promise
  }

  async #start(chosen: readonly Attempt[]): Promise<void> {
    const upstreams = chosen.map(({ upstream }) => upstream)
    this.#call = await pinnedForAll(upstreams, this.#options)
    if (this.#isOver) return
    for (const each of chosen) this.#ask(each)
    this.#settle()
  }

  /** Selects another upstream; null when none is available. */
  #choose(): Attempt | null {
    const { terms } = this.#options
    const { method, journal } = this.#call
    if (this.#all.length >= terms.maxParticipants) return null
    const upstream = nextOf(this.#options, this.#all, method.block)
    if (upstream === null) return null
    const ownJournal = new Journal(journal.startedMs)
    ownJournal.clientDeadlineMs = journal.clientDeadlineMs
    const participant: Attempt = {
      ...{ upstream, state: 'pending', journal: ownJournal, cancellation: new Cancellation() },
      cancelLateness: () => {},
    }
    this.#all.push(participant)
    return participant
  }

  #ask(participant: Attempt): void {
    const { relay, chain, clock, config } = this.#options
    const call = this.#call
    const { upstream, cancellation: signal, journal } = participant
    const usualMs = call.directives.relayTimeoutMs ?? usualBudgetMs(call.method, chain, config.now)
    participant.cancelLateness = clock.after(usualMs, () => this.#lost(participant, 'late'))
    const overrides = { selectProvider: null, stickiness: null, only: [upstream.name] }
    const directives = { ...call.directives, ...overrides }
    relay({ ...call, directives, signal, journal })
      .then((reply) => this.#received(participant, reply))
      .catch((error: unknown) => {
        const isUnanswered = error instanceof RelayError && error.kind !== errorKinds.overloaded
        if (isUnanswered || error instanceof CallAborted || isStreamFailure(error))
          this.#lost(participant, 'absent')
        else this.#fail(error)
      })
  }

  async #received(participant: Attempt, reply: Reply): Promise<void> {
    const { incoming } = reply
    const rank = replyRank(reply)
    // Too late, an error page, or a rate limit.
    if (this.#isOver || rank < 3) {
      release(incoming.body)
      return this.#lost(participant, 'absent')
    }
    // Longer answers are not compared, so their upstreams count as absent.
    const body = await wholeBody(incoming.body, nodeLimits.wholeBytes, this.budget, overloaded)
    if (this.#isOver || body === null) return this.#lost(participant, 'absent')
    this.hold(body.length)
    const ballot = this.#ballotOf(participant.upstream, {
      ...reply,
      incoming: { ...incoming, body },
    })
    if (rank < 5) this.#weak.push(ballot)
    if (rank < 5) return this.#lost(participant, 'absent')
    participant.cancelLateness()
    participant.state = 'voted'
    // A group has two answers if its first upstream was late.
    const { oneVotePerGroup } = this.#options.terms
    const isSecond = oneVotePerGroup && this.#ballots.some(({ group }) => group === ballot.group)
    if (!isSecond) this.#ballots.push(ballot)
    this.#settle()
  }

  #ballotOf(by: Upstream, reply: Ballot['reply']): Ballot {
    const { chain, iface, terms } = this.#options
    const { body } = reply.incoming
    // Solana nodes answer at different slots, which are not compared.
    const ownFields = chain.family === 'solana' ? ['context'] : []
    const ignored = [...ownFields, ...terms.ignoreFields]
    // Most honest answers are identical bytes, which need no parsing.
    const same = this.#ballots.find(
      ({ reply: { refusal, incoming } }) =>
        refusal === reply.refusal && Buffer.compare(incoming.body, body) === 0,
    )
    const isAnyCase = this.#call.method.anyCaseHex
    const { answer, excerpt } =
      same ?? digestOf(reply, body, iface.apiInterface, ignored, isAnyCase)
    return { upstream: by.name, group: by.group, by, reply, answer, excerpt }
  }

  /** The participant has no vote, or none yet, so another upstream is tried. */
  #lost(participant: Attempt, state: 'late' | 'absent'): void {
    if (this.#isOver) return
    const wasPending = participant.state === 'pending'
    participant.cancelLateness()
    participant.state = state
    const next = wasPending ? this.#choose() : null
    if (next) this.#ask(next)
    this.#settle()
  }

  #settle(): void {
    if (this.#isOver) return
    const count = (state: Participant['state']) =>
      this.#all.filter((each) => each.state === state).length
    const [pending, late] = [count('pending'), count('late')]
    // If no upstream has better, their common error is the answer.
    const areWeak = this.#ballots.length + pending + late === 0
    const ballots = areWeak ? this.#weak : this.#ballots
    const decision = decide(ballots, this.#options.terms, pending, late)
    if (decision === null) return
    const queried = this.#all.map(({ upstream }) => upstream)
    this.#close()
    this.#result.resolve({ ...decision, ballots, queried, block: this.#call.method.block })
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
