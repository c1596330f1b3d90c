// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { isFinal } from '../chain/finality.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Live, PolicyConfig, RelayConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { Hedging } from '../relay/hedge.ts'
import type { Relay } from '../relay/relay.ts'
import { rankOf, type Reply } from '../relay/reply.ts'
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
  readonly config: Live<Pick<RelayConfig, 'strategy' | 'minRelayTimeoutMs'>>
  /** Of this chain and interface, by their methods. */
  readonly policies: Live<{ readonly validations: ReadonlyMap<string, PolicyConfig> }>
  readonly clock: Clock
  readonly budget: ByteBudget
  readonly observer: CrossValidationObserver
}

/** A relay that gives the answers of some calls only when enough upstreams agree on them. */
export function withCrossValidation(relay: Relay, options: CrossValidationOptions): Relay {
  const validation = new CrossValidation({ ...options, relay })
  return (call) => {
    const isAsked = call.directives.crossValidation !== null
    const { validations } = options.policies.now
    const policy = validations.size === 0 ? undefined : validations.get(call.asked.method)
    return isAsked || policy ? validation.run(call, policy) : relay(call)
  }
}

/** How long a call waits for upstreams that have not been verified yet. */
const maxVerificationMs = 1_000
class CrossValidation {
  readonly #options: CrossValidationOptions & { readonly relay: Relay }

  constructor(options: CrossValidationOptions & { readonly relay: Relay }) {
    this.#options = options
  }

  async run(call: Call, policy: PolicyConfig | undefined): Promise<Reply> {
    const { relay, config, iface, chain } = this.#options
    try {
      const terms = termsOf(call, policy)
      if (terms === null) return await relay(call)
      // The slot at which a node of Solana looked is its own.
      const ownFields = chain.family === 'solana' ? ['context'] : []
      const hedging = new Hedging(chain.blockTimeMs)
      const { strategy, minRelayTimeoutMs } = config.now
      const usualMs = hedging.usualBudgetMs(call.asked, minRelayTimeoutMs)
      const options = {
        ...{ ...this.#options, strategy, call },
        terms: { ...terms, ignoreFields: [...ownFields, ...terms.ignoreFields] },
        apiInterface: iface.apiInterface,
        patienceMs: call.directives.relayTimeoutMs ?? usualMs,
      }
      const participants = new Participants(options)
      await this.#enough(call, participants)
      return this.#conclude(call, await new FanOut({ ...options, participants }).run())
    } catch (error) {
      const failure = error instanceof RelayError ? error.kind.reason : ''
      if (/^insufficient-(?:capacity|groups)$/.test(failure))
        this.#note(call, { agreeing: [], disagreeing: [], all: [], failure })
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
    const { pool, chain, observer } = this.#options
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
    // Not of errors that another node might not return.
    const areSure = call.asked.deterministic && ballots.every(({ reply }) => rankOf(reply) >= 5)
    for (const each of areSure && isFinal(block, pool.tip, chain) ? others : []) {
      observer.finalizedMismatch(call, each, best)
      const [url] = each.by.urlsFor([])
      // Without agreement nobody knows which of them is wrong.
      if (best && url) each.by.failed(url, chain.failures.ofAnswer('violated'), true)
    }
    if (best !== null && failure === null) return best.reply
    const answers = new Set(ballots.map(({ answer }) => answer)).size
    const message = `no answer was agreed on: ${asked.length} upstreams were asked, ${ballots.length} answered, with ${answers} different answers`
    const kind = Object.values(errorKinds).find(({ reason }) => reason === failure)
    throw new RelayError(kind ?? errorKinds.noAgreement, message)
  }
}
