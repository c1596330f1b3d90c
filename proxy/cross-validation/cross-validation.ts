// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef, Chain, ChainInterface } from '../chain/types.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { PolicyConfig, RelayConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { type ErrorKind, RelayError, errorKinds } from '../relay/errors.ts'
import { Hedging } from '../relay/hedge.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { Pool } from '../upstream/pool.ts'
import { type Ballot, fanOut, type Result } from './fan-out.ts'
import { Participants } from './participants.ts'
import { type Terms, termsOf } from './terms.ts'
import type { VoteFailure } from './vote.ts'

/** What an upstream answered, in short. */
export interface Testimony {
  readonly upstream: string
  readonly digest: string
  readonly excerpt: string
}

export interface CrossValidationObserver {
  /** @param failure the reason of the error; null: an answer was agreed on */
  validated(call: Call, failure: string | null): void
  /** Upstreams differ about what never changes. @param agreed null: there is no answer of most */
  finalizedMismatch(call: Call, wrong: Testimony, agreed: Testimony | null): void
}

export interface CrossValidationOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly pool: Pool
  readonly config: Pick<RelayConfig, 'strategy' | 'minRelayTimeoutMs'>
  /** Of this chain and interface. */
  readonly policies: readonly PolicyConfig[]
  readonly clock: Clock
  readonly observer: CrossValidationObserver
}

/** A relay that gives the answers of some calls only when enough upstreams agree on them. */
export function withCrossValidation(relay: Relay, options: CrossValidationOptions): Relay {
  const policies = new Map(options.policies.map((policy) => [policy.method, policy]))
  const validation = new CrossValidation(relay, options)
  return (call) => {
    if (call.directives.crossValidation === null && policies.size === 0) return relay(call)
    const policy = policies.get(call.asked.method)
    if (call.directives.crossValidation === null && policy === undefined) return relay(call)
    return validation.run(call, policy)
  }
}

const failureKinds: Readonly<Record<VoteFailure, ErrorKind>> = {
  'insufficient-responses': errorKinds.insufficientResponses,
  'no-agreement': errorKinds.noAgreement,
  'diversity-unmet': errorKinds.diversityUnmet,
  'group-quorum-unmet': errorKinds.groupQuorumUnmet,
}

/** How long a call waits for upstreams that have not been verified yet, and how often it looks. */
const maxVerificationMs = 1_000
const lookMs = 50
/** Where the spec names a tag: Ethereum finalizes three epochs later at most, if all is well. */
const usualFinality = 128

class CrossValidation {
  readonly #relay: Relay
  readonly #options: CrossValidationOptions
  readonly #hedging: Hedging

  constructor(relay: Relay, options: CrossValidationOptions) {
    this.#relay = relay
    this.#options = options
    this.#hedging = new Hedging(options.chain.blockTimeMs)
  }

  async run(call: Call, policy: PolicyConfig | undefined): Promise<Reply> {
    const terms = this.#terms(call, policy)
    if (terms === null) return this.#relay(call)
    const { pool, config, clock, iface, chain } = this.#options
    const participants = new Participants(pool, config.strategy, call, terms)
    await this.#enough(call, participants)
    const { relayTimeoutMs } = call.directives
    const parts = {
      relay: this.#relay,
      pool,
      apiInterface: iface.apiInterface,
      clock,
      patienceMs:
        relayTimeoutMs ?? this.#hedging.usualBudgetMs(call.asked, config.minRelayTimeoutMs),
      // The slot at which a node of Solana looked is its own.
      ignored: chain.family === 'solana' ? ['context', ...terms.ignoreFields] : terms.ignoreFields,
    }
    return this.#conclude(call, terms, await fanOut(parts, call, terms, participants))
  }

  #terms(call: Call, policy: PolicyConfig | undefined): Terms | null {
    try {
      return termsOf(call, policy)
    } catch (error) {
      if (error instanceof RelayError && error.kind === errorKinds.insufficientCapacityAsked)
        this.#failed(call, error)
      throw error
    }
  }

  /** Before any upstream is asked. */
  #failed(call: Call, { kind: { reason } }: RelayError): void {
    this.#note(call, { agreeing: [], disagreeing: [], all: [], failure: reason })
  }

  /** @throws RelayError when there are too few upstreams to agree, before any is asked */
  async #enough(call: Call, participants: Participants): Promise<void> {
    const { clock } = this.#options
    for (;;) {
      const shortage = participants.shortage()
      if (shortage === null) return
      const waitedMs = clock.nowMs() - call.journal.startedMs
      if (!participants.areStarting || waitedMs >= maxVerificationMs || call.signal.aborted) {
        this.#failed(call, shortage)
        throw shortage
      }
      await sleep(clock, lookMs)
    }
  }

  #note(call: Call, outcome: NonNullable<Call['journal']['crossValidation']>): void {
    call.journal.crossValidation = outcome
    this.#options.observer.validated(call, outcome.failure)
  }

  /** @throws RelayError when no answer was agreed on */
  #conclude(call: Call, { agreement }: Terms, result: Result): Reply {
    const { decision, ballots, asked } = result
    const failure = decision.kind === 'failed' ? decision.reason : null
    const best = bestOf(ballots, decision)
    const isBest = ({ answer }: Ballot) => answer === best?.answer
    const others = ballots.filter((each) => !isBest(each))
    const names = (all: readonly { by: { name: string } }[]) => all.map(({ by: { name } }) => name)
    this.#note(call, {
      agreeing: names(ballots.filter(isBest)),
      disagreeing: names(others),
      all: asked.map(({ name }) => name),
      failure,
    })
    if (others.length > 0 && this.#isFinal(result.call.asked.block))
      this.#mismatch(call, others, best)
    if (best !== null && failure === null) return best.reply
    const counted = [...Map.groupBy(ballots, ({ answer }) => answer).values()].map(
      ({ length }) => length,
    )
    const message = `${agreement} upstreams must agree; of ${asked.length} asked ${ballots.length} answered${counted.length > 1 ? `, with ${counted.length} different answers` : ''}`
    throw new RelayError(failureKinds[failure ?? 'no-agreement'], message)
  }

  #mismatch(call: Call, others: readonly Ballot[], best: Ballot | null): void {
    const { observer, chain } = this.#options
    for (const each of others) {
      observer.finalizedMismatch(call, testimony(each), best && testimony(best))
      const [url] = each.by.urlsFor([])
      // Without agreement nobody knows which of them is wrong.
      if (best && url) each.by.failed(url, chain.failures.ofAnswer('violated'), true)
    }
  }

  /** What the call is about never changes. */
  #isFinal(block: BlockRef): boolean {
    const { chain, pool } = this.#options
    const last = block.kind === 'range' ? block.to : block
    if (last.kind === 'tag') return last.tag === 'earliest' || last.tag === 'finalized'
    if (last.kind !== 'number' || pool.tip === null) return false
    const depth = typeof chain.finality === 'number' ? chain.finality : usualFinality
    return last.number <= pool.tip - depth
  }
}

/** One that gave the answer with the most votes; null where no answer has. */
function bestOf(ballots: readonly Ballot[], decision: Result['decision']): Ballot | null {
  if (decision.kind === 'agreed')
    return ballots.find(({ answer }) => answer === decision.answer) ?? null
  if (decision.reason === 'no-agreement' || decision.reason === 'insufficient-responses')
    return null
  const groups = [...Map.groupBy(ballots, ({ answer }) => answer).values()]
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0] ?? null
}

function testimony({ upstream, digest }: Ballot): Testimony {
  return { upstream, digest: digest.text.slice(0, 16), excerpt: digest.excerpt }
}
