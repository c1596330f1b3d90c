// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isFinal } from '../chain/finality.ts'
import type { Live, PolicyConfig } from '../config/types.ts'
import type { Call, CrossValidated } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { whenServing } from '../relay/needs.ts'
import type { Relay } from '../relay/relay.ts'
import { replyRank, type Reply } from '../relay/reply.ts'
import { settle } from '../upstream/outcome.ts'
import { type Ballot, FanOut, type FanOutOptions, type Result } from './fan-out.ts'
import { shortageOf } from './participants.ts'
import { termsOf } from './terms.ts'
import { counted } from '../words/counted.ts'

/** Summary of an upstream's answer; `answer` is a digest. */
export type VoteSummary = Pick<Ballot, 'upstream' | 'answer' | 'excerpt'>

export interface CrossValidationObserver {
  /** @param failure the reason of the error, or null for agreement */
  validated(call: Call, failure: string | null): void
  /** Upstreams disagree on finalized data. @param agreed null if no answer has enough votes */
  finalizedMismatch(call: Call, wrong: VoteSummary, agreed: VoteSummary | null): void
}

export interface CrossValidationOptions extends Omit<FanOutOptions, 'relay' | 'call' | 'terms'> {
  /** Policies of this chain and interface, by method. */
  readonly policies: Live<{ readonly validations: ReadonlyMap<string, PolicyConfig> }>
  readonly observer: CrossValidationObserver
}

/** Wraps a relay so that selected calls get an answer only if enough upstreams agree on it. */
export function withCrossValidation(relay: Relay, options: CrossValidationOptions): Relay {
  return (call) => {
    const isRequested = call.directives.crossValidation !== null
    const { validations } = options.policies.now
    const policy = validations.size === 0 ? undefined : validations.get(call.method.name)
    return isRequested || policy ? validated(call, policy, relay, options) : relay(call)
  }
}

async function validated(
  call: Call,
  policy: PolicyConfig | undefined,
  relay: Relay,
  options: CrossValidationOptions,
): Promise<Reply> {
  try {
    const terms = termsOf(call, policy)
    if (terms === null) return await relay(call)
    const own = { ...options, relay, call, terms }
    await waitForQuorum(own)
    return conclude(call, await new FanOut(own).run(), options)
  } catch (error) {
    const failure = error instanceof RelayError ? error.kind.reason : ''
    if (/^insufficient-(?:capacity|groups)$/.test(failure))
      note(call, { agreeing: [], disagreeing: [], all: [], failure }, options)
    throw error
  }
}

/** @throws RelayError before any request if too few upstreams can agree */
async function waitForQuorum(options: FanOutOptions): Promise<void> {
  const { call, clock, pool } = options
  const isVerified = () =>
    pool.upstreams.every(({ urls }) => urls.every(({ verified }) => verified !== null))
  await whenServing(call, clock, () => shortageOf(options) === null || isVerified())
  const shortage = shortageOf(options)
  if (shortage !== null) throw shortage
}

function note(call: Call, outcome: CrossValidated, options: CrossValidationOptions): void {
  call.journal.crossValidation = outcome
  options.observer.validated(call, outcome.failure)
}

/** How long an upstream counts as wrong after its last wrong vote. */
const wrongMs = 300_000

/** @throws RelayError without agreement */
function conclude(call: Call, result: Result, options: CrossValidationOptions): Reply {
  const { pool, chain, observer } = options
  const { failure, answer, ballots, queried, block } = result
  const agreeing = ballots.filter((each) => each.answer === answer)
  const others = ballots.filter((each) => each.answer !== answer)
  const [best = null] = agreeing
  const outcome = {
    agreeing: agreeing.map(({ upstream }) => upstream),
    disagreeing: others.map(({ upstream }) => upstream),
    all: queried.map(({ name }) => name),
    failure,
  }
  note(call, outcome, options)
  // Errors that another node might not return prove nothing.
  const areSure = call.method.deterministic && ballots.every(({ reply }) => replyRank(reply) >= 5)
  for (const each of areSure && isFinal(block, pool.tip, chain) ? others : []) {
    observer.finalizedMismatch(call, each, best)
    const [url] = each.by.urlsFor([])
    // Without agreement, any of them may be wrong.
    if (!best) continue
    each.by.faulted('wrong about finalized blocks (votes lost: #)', wrongMs)
    const failure = chain.failures.ofAnswer('violated')
    if (url) settle('failed', each.by, url, { failure, needsProbe: true })
  }
  if (best !== null && failure === null) return best.reply
  const answers = new Set(ballots.map(({ answer }) => answer)).size
  const message = `no agreement: ${counted(queried.length, 'upstream was', 'upstreams were')} tried, ${ballots.length} answered, with ${counted(answers, 'different answer')}`
  const kind = Object.values(errorKinds).find(({ reason }) => reason === failure)
  throw new RelayError(kind ?? errorKinds.noAgreement, message)
}
