// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain, MethodSpec } from '../chain/types.ts'
import type { IntegrityLevel } from '../config/types.ts'
import { Integrity } from '../integrity/integrity.ts'
import { valueAt } from '../json/value-at.ts'
import { toNumber } from '../json/values.ts'
import { mayBeRight, type Violation } from '../integrity/violation.ts'
import type { Pool } from '../upstream/pool.ts'
import { mayBeWhole, type Incoming } from '../upstream/wire.ts'
import { type Call, maySendAgain } from './call.ts'
import { type ReplyContent, maxMessageLength, type StreamValidator } from './reply.ts'

/** What an upstream's answer is worth. */
export interface ValidatedAnswer {
  /** The client gets it: a result, or an error that is the node's own answer. */
  readonly isAnswer: boolean
  /** A result of a known method, in the form of its interface; else it may be any page. */
  readonly isResult: boolean
  /** The failure class of an error, or why the answer is refused; null for a result. */
  readonly failure: FailureClass | null
  /** A few words for the log. */
  readonly detail: string | null
  /** What may still be passed on when nothing better comes: a node's error, or the answer as it is. */
  readonly passOn: 'node-error' | 'as-it-is' | null
  readonly violation: Violation | null
  readonly missedBlock: boolean
  /** Of a node's error; 0: none, in an answer that is all here; null: not known. */
  readonly code: number | null
  /** Judges the remainder of a stream; null when the answer is complete. */
  readonly rest: StreamValidator | null
}

export interface AnswerValidatorOptions {
  readonly chain: Chain
  readonly pool: Pick<Pool, 'tip' | 'tracker'>
  readonly integrity: IntegrityLevel
}

/** Detail of an answer that is older than its request allows. */
export const belowFloor = 'a block below the floor'

type ResultContent = Extract<ReplyContent, { kind: 'result' }>

/** Judges the answers to calls: errors by the failure table, results by the integrity checks. */
export class AnswerValidator {
  readonly #options: AnswerValidatorOptions
  readonly #integrity: Integrity

  constructor(options: AnswerValidatorOptions) {
    this.#options = options
    this.#integrity = new Integrity(options.integrity, options.pool.tracker)
  }

  validate(incoming: Incoming, call: Call): ValidatedAnswer {
    const { method } = call
    const wantsResult =
      Boolean(method.refusal ?? method.floor?.shown) ||
      method.checks.some(isExistence) ||
      this.#integrity.looksAt(method)
    const finding = call.reader.read(incoming, wantsResult)
    if (finding.kind === 'malformed') return this.#ofMalformed(incoming, finding, call)
    if (finding.kind === 'node-error') return this.#ofNodeError(finding, call)
    return this.#ofResult(finding, method)
  }

  /** Two upstreams showed this violation, and the answer is passed on. */
  passedOn(violation: Violation): void {
    this.#integrity.passedOn(violation)
  }

  #ofMalformed(
    { status, body }: Incoming,
    { why, isClientsFault }: Extract<ReplyContent, { kind: 'malformed' }>,
    { method }: Call,
  ): ValidatedAnswer {
    const { chain, integrity } = this.#options
    if (integrity === 'off' && mayBeWhole(status)) return { ...anyAnswer, code: null }
    const { failures } = chain
    const isHere = body instanceof Uint8Array
    const failure = isHere ? failures.ofPage(status, body) : failures.ofStatus(status)
    // A client may invent a method that a gateway in front of the node refuses.
    const unblamed = { ...failure, weight: 0 }
    if (status >= 400) return failed(method.known ? failure : unblamed, why, 'as-it-is')
    // The client gets it when no upstream has anything better.
    if (isClientsFault) return failed(unblamed, why, 'as-it-is')
    // A broken answer that claims success is never passed on.
    return failed(failure, why, null, failure.holdOff ? null : { check: 'envelope', detail: why })
  }

  #ofNodeError(
    { error, rest }: Extract<ReplyContent, { kind: 'node-error' }>,
    call: Call,
  ): ValidatedAnswer {
    const { name, runsCallerCode } = call.method
    const failure = this.#options.chain.failures.ofNodeError(error, name, runsCallerCode)
    // An unknown error may come from a gateway and not from the node: another upstream may do better.
    const isAnswer = failure.doubtful ? !maySendAgain(call) : !failure.retry && !failure.holdOff
    const { code } = error
    if (isAnswer) return { ...nodeError(failure, rest), code }
    return { ...failed(failure, `code ${code}`, 'node-error'), code }
  }

  #ofResult(finding: ResultContent, method: MethodSpec): ValidatedAnswer {
    const { inForm = false, parsed, rest = null } = finding
    const plain = inForm && method.known ? plainResult : anyAnswer
    const answer = rest === null ? plain : { ...plain, rest, code: null }
    // Of a long answer only the envelope is judged, as it is passed on.
    if (parsed === undefined) return answer
    const refusal = method.refusal ? this.#refusalIn(parsed, method.refusal) : null
    if (refusal?.retry) return failed(refusal, 'a refusal in its result', 'node-error')
    if (refusal) return nodeError(refusal, rest)
    const { failures } = this.#options.chain
    const found = this.#integrity.check(parsed, method)
    if (found) {
      const failure = failures.ofAnswer(mayBeRight(found) ? 'doubted' : 'violated')
      return failed(failure, found.check, 'as-it-is', found)
    }
    const { block = 0, shown = null } = method.floor ?? {}
    if (shown && (toNumber(valueAt(parsed, shown.path)) ?? block) < block)
      return failed(failures.ofAnswer('below-floor'), belowFloor, null)
    return this.#missesBlock(parsed, method) ? { ...answer, missedBlock: true } : answer
  }

  /** Some nodes refuse a transaction in a result and not as an error: that is their answer. */
  #refusalIn(result: unknown, path: NonNullable<MethodSpec['refusal']>): FailureClass | null {
    const code = Number(valueAt(result, path.code))
    // 0 is success, and without a code there is no refusal.
    if (code === 0 || Number.isNaN(code)) return null
    const words = valueAt(result, path.message)
    const message = typeof words === 'string' ? words.slice(0, maxMessageLength) : ''
    const failure = this.#options.chain.failures.ofNodeError({ status: 200, code, message })
    // Another node may have room for it.
    const retry = failure.origin === 'node' && failure.retry
    const transaction = failure.transaction ?? (retry ? null : 'refused')
    const unblamed = { weight: 0, holdOff: false, reported: false, late: false }
    return { ...failure, ...unblamed, origin: 'node', retry, transaction }
  }

  /** Null, which means "no such block", for a tag that every chain has or a height that the tip has reached. */
  #missesBlock(result: unknown, { block, checks }: MethodSpec): boolean {
    if (result !== null || !checks.some(isExistence)) return false
    if (block.kind === 'tag') return block.tag !== 'pending'
    const { tip } = this.#options.pool
    return block.kind === 'number' && tip !== null && block.number <= tip
  }
}

/** Null from this method means that there is no such block, at every level of checks. */
function isExistence({ rule }: MethodSpec['checks'][number]): boolean {
  return rule.check === 'exists'
}

function failed(
  failure: FailureClass,
  detail: string,
  passOn: ValidatedAnswer['passOn'],
  violation: Violation | null = null,
): ValidatedAnswer {
  return { ...anyAnswer, isAnswer: false, failure, detail, passOn, violation, code: null }
}

function nodeError(failure: FailureClass, rest: StreamValidator | null = null): ValidatedAnswer {
  return { ...anyAnswer, failure, rest, code: null }
}

const anyAnswer: ValidatedAnswer = {
  isAnswer: true,
  isResult: false,
  failure: null,
  detail: null,
  passOn: null,
  violation: null,
  missedBlock: false,
  code: 0,
  rest: null,
}

const plainResult: ValidatedAnswer = { ...anyAnswer, isResult: true }
