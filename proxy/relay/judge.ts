// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain } from '../chain/types.ts'
import type { IntegrityLevel } from '../config/types.ts'
import type { Span } from '../json/span.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { mayBeWhole } from '../upstream/whole-answer.ts'
import { lastPointOf } from '../upstream/pick.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { CheckedStream } from './checked-stream.ts'
import { BlockMemory } from './integrity/block-memory.ts'
import { findViolation } from './integrity/find-violation.ts'
import { LongResult } from './integrity/long-result.ts'
import { violation, type Violation } from './integrity/violation.ts'
import { refusalIn } from './refused-result.ts'
import type { Finding, StreamJudge } from './reply.ts'

/** What an upstream's answer is worth. */
export type Judgement =
  | {
      readonly kind: 'answer'
      /** A result, in the form in which the spec's own methods give one; else it may be anybody's page. */
      readonly isResult: boolean
      readonly missedBlock: boolean
      /** Judges what of a stream is still to come; null where all is known. */
      readonly rest: StreamJudge | null
    }
  /** The node's own error, which is the answer. */
  | {
      readonly kind: 'refusal'
      readonly failure: FailureClass
      readonly rest: StreamJudge | null
    }
  | FailedJudgement

interface FailedJudgement {
  readonly kind: 'failed'
  readonly failure: FailureClass
  readonly detail: string
  /** What may still be passed on when nothing better comes: a node's error, or the answer as it is. */
  readonly passOn: 'node-error' | 'as-it-is' | null
  readonly violation: Violation | null
  readonly missedBlock: boolean
}

export interface JudgeOptions {
  readonly chain: Chain
  readonly pool: Pick<Pool, 'tip' | 'horizonOf'>
  readonly integrity: IntegrityLevel
  readonly retryMissingBlocks: boolean
}

type ResultFinding = Extract<Finding, { kind: 'result' }>
type NodeErrorFinding = Extract<Finding, { kind: 'node-error' }>
type MalformedFinding = Extract<Finding, { kind: 'malformed' }>

/** What there is to say about what a result says. */
interface Inspection {
  readonly found: Violation | null
  readonly missedBlock: boolean
  /** Judges what is still to come. */
  readonly rest: StreamJudge | null
}

/** Says what an answer to a call is worth, and remembers of blocks what it needs to. */
export class Judge {
  readonly #options: JudgeOptions
  readonly #memory = new BlockMemory()

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  judge(incoming: Incoming, call: Call, upstream: Upstream, url: NodeUrl): Judgement {
    const finding = call.reader.read(incoming)
    if (finding.kind === 'malformed') return this.#ofMalformed(incoming, finding, call)
    if (finding.kind === 'node-error') return this.#ofNodeError(finding, call)
    const refusal = this.#refusalIn(incoming, finding, call)
    if (refusal?.retry) return failed(refusal, 'a refusal in its result', 'node-error')
    if (refusal) return { kind: 'refusal', failure: refusal, rest: finding.rest ?? null }
    const inspection = this.#inspect(incoming, finding, call, upstream, url)
    return this.#ofResult(inspection, finding.value !== undefined && call.asked.known)
  }

  #ofMalformed(
    incoming: Incoming,
    { why, isClientsDoing }: MalformedFinding,
    call: Call,
  ): Judgement {
    const { integrity } = this.#options
    if (integrity === 'off' && mayBeWhole(incoming.status))
      return { kind: 'answer', isResult: false, missedBlock: false, rest: null }
    // A broken answer that claims success is never passed on; an error page is the node's own word.
    const failure = this.#pageFailure(incoming)
    if (incoming.status >= 400) {
      // A stranger may make up what a gateway in front of the node refuses.
      const weight = call.asked.known ? failure.weight : 0
      return failed({ ...failure, weight }, why, 'as-it-is')
    }
    // The client gets it when nobody has anything better.
    if (isClientsDoing) return failed({ ...failure, weight: 0 }, why, 'as-it-is')
    if (failure.holdOff) return failed(failure, why, null)
    return { ...failed(failure, why, null), violation: violation('envelope', why) }
  }

  #ofNodeError(finding: NodeErrorFinding, { asked }: Call): Judgement {
    const { failures } = this.#options.chain
    const failure = failures.ofNodeError(finding.error, asked.method)
    // Words that nobody knows may be a gateway's and not the node's: who only reads can ask another.
    const isAnswer = failure.doubtful ? asked.kind !== 'read' : !failure.retry && !failure.holdOff
    if (isAnswer) return { kind: 'refusal', failure, rest: finding.rest ?? null }
    return failed(failure, `code ${finding.error.code}`, 'node-error')
  }

  #ofResult({ found, missedBlock, rest }: Inspection, isResult: boolean): Judgement {
    const { chain, retryMissingBlocks } = this.#options
    const { failures } = chain
    if (found) {
      const { certain, check } = found
      const failure = failures.ofAnswer(certain ? 'violated' : 'doubted')
      // What is only doubted may be true: it is the answer when nobody else has one.
      return { ...failed(failure, check, certain ? null : 'as-it-is'), violation: found }
    }
    if (!missedBlock || !retryMissingBlocks) return { kind: 'answer', isResult, missedBlock, rest }
    const failure = failures.ofAnswer('missing-block')
    return { ...failed(failure, 'null for a block that exists', 'as-it-is'), missedBlock }
  }

  #pageFailure({ status, body }: Incoming): FailureClass {
    const { failures } = this.#options.chain
    if (!(body instanceof Uint8Array)) return failures.ofStatus(status)
    return failures.ofPage(status, body)
  }

  #refusalIn(
    { body }: Incoming,
    { value }: ResultFinding,
    { asked: { refusal } }: Call,
  ): FailureClass | null {
    // No node refuses in a megabyte.
    if (!refusal || !value || !(body instanceof Uint8Array)) return null
    return refusalIn(body, value, refusal, this.#options.chain.failures)
  }

  /** Looks at what the result says, or at as much of it as has come. */
  #inspect(
    { body }: Incoming,
    finding: ResultFinding,
    { asked }: Call,
    upstream: Upstream,
    { skipVerifications }: NodeUrl,
  ): Inspection {
    const { value, goesOn = false, rest = null } = finding
    const { checks, block } = asked
    if (!value || checks.length === 0) return { found: null, missedBlock: false, rest }
    const bytes = body instanceof Uint8Array ? body : Buffer.concat(body.head)
    const missedBlock = !goesOn && this.#missesBlock(bytes, value, asked)
    if (this.#options.integrity !== 'core' && this.#options.integrity !== 'full')
      return { found: null, missedBlock, rest }
    // Of heights that the client names the node says what it has; its URLs may differ.
    const isNamed = lastPointOf(block)?.kind === 'number'
    const horizon = () => (isNamed ? null : this.#options.pool.horizonOf(upstream))
    const question = { checks, block, upstream: upstream.name, skipVerifications, horizon }
    if (!goesOn) {
      const found = findViolation(bytes, value, question, this.#memory)
      return { found, missedBlock, rest }
    }
    const result = new LongResult(question, this.#memory)
    const found = result.push(bytes.subarray(value.start)) ?? result.checkBeginning()
    return { found, missedBlock, rest: rest && new CheckedStream(rest, result, bytes.length) }
  }

  /** Null for a block that every chain has, or for a height that this one has reached, from a method whose null says that it has not. */
  #missesBlock(bytes: Uint8Array, value: Span, asked: Call['asked']): boolean {
    const { block, checks } = asked
    if (bytes[value.start] !== 0x6e || !checks.some(({ rule }) => rule.check === 'exists'))
      return false
    if (block.kind === 'tag') return block.tag !== 'pending'
    const { tip } = this.#options.pool
    return block.kind === 'number' && tip !== null && block.number <= tip
  }
}

function failed(
  failure: FailureClass,
  detail: string,
  passOn: FailedJudgement['passOn'],
): FailedJudgement {
  return { kind: 'failed', failure, detail, passOn, violation: null, missedBlock: false }
}
