// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isFinal } from '../chain/finality.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { PolicyConfig, RelayConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { Hedging } from '../relay/hedge.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { Pool } from '../upstream/pool.ts'
import { type Ballot, FanOut, type Result } from './fan-out.ts'
import { Participants } from './participants.ts'
import { termsOf } from './terms.ts'

/** What an upstream answered, in short: `answer` is a digest. */
export type Testimony = Pick<Ballot, 'upstream' | 'answer' | 'excerpt'>

export interface CrossValidationObserver {
  /** @param failure the reason of the error; null: an answer was agreed on */
  validated(call: Call, failure: string | null): void
  /** Upstreams differ about what never changes. @param agreed null: no answer has enough votes */
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
    const isAsked = call.directives.crossValidation !== null
    const policy = policies.size === 0 ? undefined : policies.get(call.asked.method)
    return isAsked || policy ? validation.run(call, policy) : relay(call)
  }
}

/** How long a call waits for upstreams that have not been verified yet. */
const maxVerificationMs = 1_000
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
    const { config, iface, chain } = this.#options
    try {
      const terms = termsOf(call, policy)
      if (terms === null) return await this.#relay(call)
      // The slot at which a node of Solana looked is its own.
      const ownFields = chain.family === 'solana' ? ['context'] : []
      const usualMs = this.#hedging.usualBudgetMs(call.asked, config.minRelayTimeoutMs)
      const options = {
        ...{ ...this.#options, relay: this.#relay, strategy: config.strategy, call },
        terms: { ...terms, ignoreFields: [...ownFields, ...terms.ignoreFields] },
        apiInterface: iface.apiInterface,
        patienceMs: call.directives.relayTimeoutMs ?? usualMs,
      }
      const participants = new Participants(options)
      await this.#enough(call, participants)
      return this.#conclude(call, await new FanOut({ ...options, participants }).run())
    } catch (error) {
      const { insufficientCapacity, insufficientCapacityAsked, insufficientGroups } = errorKinds
      const early = [insufficientCapacity, insufficientCapacityAsked, insufficientGroups]
      if (error instanceof RelayError && early.includes(error.kind))
        this.#note(call, { agreeing: [], disagreeing: [], all: [], failure: error.kind.reason })
      throw error
    }
  }

  /** @throws RelayError when there are too few upstreams to agree, before any is asked */
  async #enough(call: Call, participants: Participants): Promise<void> {
    const { clock, pool } = this.#options
    for (;;) {
      const shortage = participants.shortage()
      if (shortage === null) return
      const waitedMs = clock.nowMs() - call.journal.startedMs
      const urls = pool.upstreams.flatMap((each) => each.urls)
      const areStarting = urls.some(({ verified }) => verified === null)
      if (!areStarting || waitedMs >= maxVerificationMs || call.signal.aborted) throw shortage
      await sleep(clock, 50)
    }
  }

  #note(call: Call, outcome: NonNullable<Call['journal']['crossValidation']>): void {
    call.journal.crossValidation = outcome
    this.#options.observer.validated(call, outcome.failure)
  }

  /** @throws RelayError when no answer was agreed on */
  #conclude(call: Call, { decision, ballots, asked, block }: Result): Reply {
    const { pool, chain } = this.#options
    const failure = decision.kind === 'failed' ? decision.reason : null
    const best = ballots.find(({ answer }) => answer === decision.answer) ?? null
    const agreeing = ballots.filter(({ answer }) => answer === best?.answer)
    const others = ballots.filter(({ answer }) => answer !== best?.answer)
    this.#note(call, {
      agreeing: agreeing.map(({ upstream }) => upstream),
      disagreeing: others.map(({ upstream }) => upstream),
      all: asked.map(({ name }) => name),
      failure,
    })
    if (isFinal(block, pool.tip, chain)) for (const each of others) this.#mismatch(call, each, best)
    if (best !== null && failure === null) return best.reply
    const answers = new Set(ballots.map(({ answer }) => answer)).size
    const message = `no answer was agreed on: ${asked.length} upstreams were asked, ${ballots.length} answered, with ${answers} different answers`
    const kind = Object.values(errorKinds).find(({ reason }) => reason === failure)
    throw new RelayError(kind ?? errorKinds.noAgreement, message)
  }

  #mismatch(call: Call, wrong: Ballot, best: Ballot | null): void {
    this.#options.observer.finalizedMismatch(call, wrong, best)
    const [url] = wrong.by.urlsFor([])
    // Without agreement nobody knows which of them is wrong.
    if (best && url) wrong.by.failed(url, this.#options.chain.failures.ofAnswer('violated'), true)
  }
}
