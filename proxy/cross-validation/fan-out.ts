// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Cancellation } from '../clock/cancellation.ts'
import type { Cancel, Clock } from '../clock/clock.ts'
import type { ApiInterface } from '../config/types.ts'
import { type Call, Journal } from '../relay/call.ts'
import { CallAborted, RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import { type Reply, rankOf } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import { type Digest, digestOf } from './canonical.ts'
import { commonBlock, type Participants } from './participants.ts'
import { canPin, pinned } from './pin.ts'
import type { Terms } from './terms.ts'
import { decide, type Decision, type Vote } from './vote.ts'

export interface FanOutParts {
  readonly relay: Relay
  readonly pool: Pool
  readonly apiInterface: ApiInterface
  readonly clock: Clock
  /** After this another upstream is asked beside it. */
  readonly patienceMs: number
  /** Fields of the result that are each node's own. */
  readonly ignored: readonly string[]
}

/** One upstream that is asked. `weak`: an error that another upstream might not return. */
interface Participant {
  readonly upstream: Upstream
  readonly cancellation: Cancellation
  readonly journal: Journal
  cancelLateness: Cancel
  state: 'pending' | 'late' | 'voted' | 'weak' | 'absent'
}

/** A vote with what was voted for. */
export interface Ballot extends Vote {
  readonly by: Upstream
  readonly reply: Reply
  readonly digest: Digest
}

/** What the participants came to. */
export interface Result {
  readonly decision: Exclude<Decision, { kind: 'open' }>
  readonly ballots: readonly Ballot[]
  readonly asked: readonly Upstream[]
  /** As it was sent: about one block, where it was about the latest one. */
  readonly call: Call
}

/** Longer answers are not compared: their upstreams are absent. */
const maxAnswerBytes = 16 * 1024 * 1024

/**
 * Asks several upstreams the same and counts their votes. One that fails, is limited, or is late is replaced while
 * another may be asked; a late one may still vote.
 * @throws CallAborted when the client left
 */
export function fanOut(
  parts: FanOutParts,
  call: Call,
  terms: Terms,
  participants: Participants,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    new FanOut(parts, call, terms, participants, resolve, reject).start()
  })
}

class FanOut {
  readonly #parts: FanOutParts
  #call: Call
  readonly #terms: Terms
  readonly #participants: Participants
  readonly #resolve: (result: Result) => void
  readonly #reject: (error: unknown) => void
  readonly #all: Participant[] = []
  readonly #ballots: Ballot[] = []
  readonly #weak: Ballot[] = []
  #isOver = false
  readonly #leave = () => {
    this.#close()
    this.#reject(new CallAborted())
  }

  constructor(
    parts: FanOutParts,
    call: Call,
    terms: Terms,
    participants: Participants,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ) {
    this.#parts = parts
    this.#call = call
    this.#terms = terms
    this.#participants = participants
    this.#resolve = resolve
    this.#reject = reject
  }

  start(): void {
    const call = this.#call
    if (call.signal.aborted) return this.#leave()
    call.signal.addEventListener('abort', this.#leave, { once: true })
    const { participants, agreement } = this.#terms
    const chosen: Upstream[] = []
    while (chosen.length < participants) {
      const next = this.#participants.next(call.asked.block)
      if (next === null) break
      chosen.push(next)
    }
    const block = canPin(call) ? commonBlock(chosen, agreement, call.directives.minBlock) : null
    if (block !== null) this.#call = pinned(call, block) ?? call
    for (const upstream of chosen) this.#ask(upstream)
    this.#settle()
  }

  #ask(upstream: Upstream): void {
    const { relay, pool, clock, patienceMs } = this.#parts
    const { shared: _, ...call } = this.#call
    const others = pool.upstreams.filter((each) => each !== upstream).map(({ name }) => name)
    const cancellation = new Cancellation()
    const journal = new Journal(call.journal.startedMs)
    journal.clientDeadlineMs = call.journal.clientDeadlineMs
    const participant: Participant = {
      upstream,
      cancellation,
      journal,
      cancelLateness: clock.after(patienceMs, () => {
        this.#left(participant, 'late')
      }),
      state: 'pending',
    }
    this.#all.push(participant)
    const directives = { ...call.directives, selectProvider: null, blockProviders: others }
    relay({ ...call, directives, signal: cancellation, journal })
      .then((reply) => this.#received(participant, reply))
      .catch((error: unknown) => {
        const isAbsent =
          error instanceof RelayError || error instanceof CallAborted || isStreamFailure(error)
        if (isAbsent) this.#left(participant, 'absent')
        else this.#fail(error)
      })
  }

  async #received(participant: Participant, reply: Reply): Promise<void> {
    const { incoming } = reply
    if (this.#isOver) return release(incoming.body)
    const rank = rankOf(reply)
    // A page, or a limit.
    if (rank < 3) {
      release(incoming.body)
      return this.#left(participant, 'absent')
    }
    const body =
      incoming.body instanceof Uint8Array
        ? incoming.body
        : await wholeBody(incoming.body, maxAnswerBytes)
    if (this.#isOver) return
    if (body === null) return this.#left(participant, 'absent')
    const ballot = this.#ballotOf(
      participant.upstream,
      { ...reply, incoming: { ...incoming, body } },
      body,
    )
    if (rank < 5) this.#weak.push(ballot)
    if (rank < 5) return this.#left(participant, 'weak')
    participant.state = 'voted'
    // Two of a group answer where the first of them was late.
    const isSecond =
      this.#terms.oneVotePerGroup && this.#ballots.some(({ group }) => group === ballot.group)
    if (!isSecond) this.#ballots.push(ballot)
    this.#settle()
  }

  #ballotOf(by: Upstream, reply: Reply, body: Uint8Array): Ballot {
    const { apiInterface, ignored } = this.#parts
    const same = this.#ballots.find(
      (each) => each.reply.refusal === reply.refusal && isSame(each.reply.incoming.body, body),
    )
    const digest = same?.digest ?? digestOf(reply, body, apiInterface, ignored)
    return { upstream: by.name, group: by.group, answer: digest.text, by, reply, digest }
  }

  /** It has no vote, or none yet: another one is asked. */
  #left(participant: Participant, state: 'late' | 'weak' | 'absent'): void {
    if (this.#isOver) return
    const wasPending = participant.state === 'pending'
    participant.state = state
    if (wasPending) {
      this.#participants.absent(participant.upstream)
      const next = this.#participants.next(this.#call.asked.block)
      if (next) this.#ask(next)
    }
    this.#settle()
  }

  #settle(): void {
    if (this.#isOver) return
    const inState = (state: Participant['state']) =>
      this.#all.filter((each) => each.state === state)
    const [pending, late] = [inState('pending').length, inState('late').length]
    let ballots = this.#ballots
    let decision = decide(ballots, this.#terms, pending, late)
    // Where no upstream has better, an error that all return is the answer.
    if (decision.kind === 'failed' && ballots.length === 0) {
      ballots = this.#weak
      decision = decide(ballots, this.#terms, 0)
    }
    if (decision.kind === 'open') return
    this.#close()
    const asked = this.#all.map(({ upstream }) => upstream)
    this.#resolve({ decision, ballots, asked, call: this.#call })
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#close()
    this.#reject(error)
  }

  #close(): void {
    this.#isOver = true
    this.#call.signal.removeEventListener('abort', this.#leave)
    for (const { cancellation, cancelLateness, journal } of this.#all) {
      cancelLateness()
      cancellation.abort()
      this.#call.journal.attempts.push(...journal.attempts)
    }
  }
}

/** Most honest answers are the same to the byte, and need not be parsed. */
function isSame(one: Reply['incoming']['body'], other: Uint8Array): boolean {
  return one instanceof Uint8Array && Buffer.compare(one, other) === 0
}
