// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain, MethodSpec } from '../chain/types.ts'
import type { IntegrityLevel } from '../config/types.ts'
import { Integrity } from '../integrity/integrity.ts'
import { valueAt, valuesAt } from '../json/value-at.ts'
import { toNumber } from '../json/values.ts'
import { mayBeRight, type Violation } from '../integrity/violation.ts'
import type { Pool } from '../upstream/pool.ts'
import { mayBeWhole, type Incoming } from '../upstream/wire.ts'
import { type Call, maySendAgain } from './call.ts'
import { type ReplyContent, maxMessageLength, type StreamValidator } from './reply.ts'

/** Result of validating an upstream's answer. */
export interface ValidatedAnswer {
  /** Whether the client gets it: a result, or an error that the node itself returns. */
  readonly isAnswer: boolean
  /** A well-formed result of a known method; if false, the body may be any page. */
  readonly isResult: boolean
  /** Failure class of an error or of an invalid answer; null for a result. */
  readonly failure: FailureClass | null
  /** Why it is not valid, or the node's own words. They may contain keys. */
  readonly detail: string | null
  /** What to return if no upstream does better: the node's error, or the answer unchanged. */
  readonly passOn: 'node-error' | 'as-it-is' | null
  readonly violation: Violation | null
  readonly missedBlock: boolean
  /** Code of the node's error; 0 for a complete answer without one; null if unknown. */
  readonly code: number | null
  /** Validates the remainder of a stream; null if the answer is complete. */
  readonly rest: StreamValidator | null
}

export interface AnswerValidatorOptions {
  readonly chain: Chain
  readonly pool: Pick<Pool, 'tip' | 'tracker'>
  readonly integrity: IntegrityLevel
}

/** Log detail of an answer that is older than its request allows. */
export const belowFloor = 'a block below the floor'

type ResultContent = Extract<ReplyContent, { kind: 'result' }>

/** Validates answers to calls: errors by the failure table, results by the integrity checks. */
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
    const content = call.reader.read(incoming, wantsResult)
    if (content.kind === 'malformed') return this.#ofMalformed(incoming, content, call)
    if (content.kind === 'node-error') return this.#ofNodeError(content, call)
    return this.#ofResult(content, method)
  }

  /** Records that two upstreams returned this violation, so the answer goes to the client. */
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
    // Clients can invent methods that a gateway refuses, so the upstream is not blamed for those.
    const unblamed = { ...failure, weight: 0 }
    if (status >= 400) return failed(method.known ? failure : unblamed, why, 'as-it-is')
    if (isClientsFault) return failed(unblamed, why, 'as-it-is')
    // A malformed answer that claims success never reaches the client.
    return failed(failure, why, null, failure.cooldown ? null : { check: 'envelope', detail: why })
  }

  #ofNodeError(
    { error, rest }: Extract<ReplyContent, { kind: 'node-error' }>,
    call: Call,
  ): ValidatedAnswer {
    const { name, runsCallerCode } = call.method
    const failure = this.#options.chain.failures.ofNodeError(error, name, runsCallerCode)
    // An unknown error may come from a gateway, so another upstream may do better.
    const isAnswer = failure.doubtful ? !maySendAgain(call) : !failure.retry && !failure.cooldown
    const { code } = error
    if (isAnswer) return { ...nodeError(failure, rest), code }
    return { ...failed(failure, error.message, 'node-error'), code }
  }

  #ofResult(content: ResultContent, method: MethodSpec): ValidatedAnswer {
    const { inForm = false, parsed, rest = null } = content
    const plain = inForm && method.known ? plainResult : anyAnswer
    const answer = rest === null ? plain : { ...plain, rest, code: null }
    // Only the envelope of a long answer is validated, while the client reads it.
    if (parsed === undefined) return answer
    const refused = method.refusal ? this.#refusalIn(parsed, method, method.refusal) : null
    if (refused?.failure.retry) return failed(refused.failure, refused.message, 'node-error')
    if (refused) return nodeError(refused.failure, rest)
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

  /**
   * Failure class of a call that the node refuses in its result instead of an error. The words
   * come from the application, never from a gateway, so they blame nobody.
   */
  #refusalIn(
    result: unknown,
    { name, kind, runsCallerCode }: MethodSpec,
    path: NonNullable<MethodSpec['refusal']>,
  ): { readonly failure: FailureClass; readonly message: string } | null {
    const code = path.code ? Number(valueAt(result, path.code)) : null
    // Code 0 means success.
    if (code === 0 || Number.isNaN(code)) return null
    const { failures } = this.#options.chain
    if (kind !== 'write') {
      for (const words of valuesAt(result, path.message)) {
        const message = wordsOf(words)
        if (code === null && message === '') continue
        // The code is the application's, so the words decide, as in a bare error.
        const error = { status: 200, code: null, message }
        const failure = failures.ofNodeError(error, name, runsCallerCode)
        const retry = failure.retry && !failure.doubtful
        // Without a code, other words are part of the result, such as a revert in a simulation.
        if (retry || code !== null) return { failure: { ...failure, ...unblamed, retry }, message }
      }
      return null
    }
    const message = wordsOf(valueAt(result, path.message))
    const failure = failures.ofNodeError({ status: 200, code, message })
    // The mempool of another node may have room for it.
    const retry = failure.origin === 'node' && failure.retry
    const transaction = failure.transaction ?? (retry ? null : 'refused')
    return { failure: { ...failure, ...unblamed, origin: 'node', retry, transaction }, message }
  }

  /** The result is null ("no such block"), but the tag always exists or the tip is high enough. */
  #missesBlock(result: unknown, { block, checks }: MethodSpec): boolean {
    if (result !== null || !checks.some(isExistence)) return false
    if (block.kind === 'tag') return block.tag !== 'pending'
    const { tip } = this.#options.pool
    return block.kind === 'number' && tip !== null && block.number <= tip
  }
}

/** Null from this method means "no such block", whatever the integrity level. */
function isExistence({ rule }: MethodSpec['checks'][number]): boolean {
  return rule.check === 'exists'
}

/** The message of an error, which is a text or an object. */
function wordsOf(error: unknown): string {
  const words = typeof error === 'string' ? error : valueAt(error, ['message'])
  return typeof words === 'string' ? words.slice(0, maxMessageLength) : ''
}

/** What a refusal in a result does to the upstream and its method: nothing. */
const unblamed = {
  weight: 0,
  cooldown: false,
  limit: null,
  busy: false,
  reported: false,
  late: false,
} as const

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
