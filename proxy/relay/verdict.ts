// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain, Classification } from '../chain/types.ts'
import type { IntegrityLevel } from '../config/types.ts'
import type { Span } from '../json/span.ts'
import { parseSpan } from '../json/text.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { lastPointOf } from '../upstream/pick.ts'
import { mayBeWhole } from '../upstream/whole-answer.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { BlockMemory } from './integrity/block-memory.ts'
import { findViolation } from './integrity/find-violation.ts'
import { violation, type Violation } from './integrity/violation.ts'
import type { Finding, StreamJudge } from './reply.ts'

/** More of a node's message no table looks at. */
const maxMessageLength = 4_096

/** What an upstream's answer is worth. */
export type Verdict =
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
      readonly kind: 'node-error'
      readonly failure: FailureClass
      readonly rest: StreamJudge | null
    }
  | FailedVerdict

export interface FailedVerdict {
  readonly kind: 'failed'
  readonly failure: FailureClass
  readonly detail: string
  /** What may still be passed on when nothing better comes: a node's error, or the answer as it is. */
  readonly passOn: 'node-error' | 'as-it-is' | null
  readonly violation: Violation | null
  readonly missedBlock: boolean
}

export interface VerdictOptions {
  readonly chain: Chain
  readonly pool: Pick<Pool, 'tip' | 'horizonOf'>
  readonly integrity: IntegrityLevel
  readonly retryMissingBlocks: boolean
}

type ResultFinding = Extract<Finding, { kind: 'result' }>

/** Says what an answer to a call is worth: what the failure table says of errors, and the checks of results. */
export class Judge {
  readonly #options: VerdictOptions
  readonly #memory = new BlockMemory()

  constructor(options: VerdictOptions) {
    this.#options = options
  }

  judge(incoming: Incoming, call: Call, upstream: Upstream, url: NodeUrl): Verdict {
    const finding = call.reader.read(incoming)
    if (finding.kind === 'malformed') return this.#ofMalformed(incoming, finding, call)
    if (finding.kind === 'node-error') return this.#ofNodeError(finding, call)
    return this.#ofResult(incoming, finding, call, upstream, url)
  }

  #ofMalformed(
    { status, body }: Incoming,
    { why, isClientsDoing }: Extract<Finding, { kind: 'malformed' }>,
    { asked }: Call,
  ): Verdict {
    const { chain, integrity } = this.#options
    if (integrity === 'off' && mayBeWhole(status))
      return { kind: 'answer', isResult: false, missedBlock: false, rest: null }
    const { failures } = chain
    const isHere = body instanceof Uint8Array
    const failure = isHere ? failures.ofPage(status, body) : failures.ofStatus(status)
    // A stranger may make up what a gateway in front of the node refuses.
    const unblamed = { ...failure, weight: 0 }
    if (status >= 400) return failed(asked.known ? failure : unblamed, why, 'as-it-is')
    // The client gets it when no upstream has anything better.
    if (isClientsDoing) return failed(unblamed, why, 'as-it-is')
    // A broken answer that claims success is never passed on.
    return failed(failure, why, null, failure.holdOff ? null : violation('envelope', why))
  }

  #ofNodeError(
    { error, rest }: Extract<Finding, { kind: 'node-error' }>,
    { asked }: Call,
  ): Verdict {
    const failure = this.#options.chain.failures.ofNodeError(error, asked.method)
    // Words that no table knows may be a gateway's and not the node's: a read can ask another.
    const isAnswer = failure.doubtful ? asked.kind !== 'read' : !failure.retry && !failure.holdOff
    if (isAnswer) return { kind: 'node-error', failure, rest: rest ?? null }
    return failed(failure, `code ${error.code}`, 'node-error')
  }

  #ofResult(
    { body }: Incoming,
    finding: ResultFinding,
    { asked }: Call,
    upstream: Upstream,
    url: NodeUrl,
  ): Verdict {
    const { value, goesOn = false } = finding
    const rest = finding.rest ?? null
    const isResult = value !== undefined && asked.known
    // Of a long answer the envelope is judged as it passes, and no more.
    if (!value || goesOn || !(body instanceof Uint8Array))
      return { kind: 'answer', isResult, missedBlock: false, rest }
    const refusal = asked.refusal ? this.#refusalIn(body, value, asked.refusal) : null
    if (refusal?.retry) return failed(refusal, 'a refusal in its result', 'node-error')
    if (refusal) return { kind: 'node-error', failure: refusal, rest }
    if (asked.checks.length === 0) return { kind: 'answer', isResult, missedBlock: false, rest }
    return this.#checked(body, value, asked, upstream, url, rest)
  }

  #checked(
    body: Uint8Array,
    value: Span,
    asked: Classification,
    upstream: Upstream,
    { skipVerifications }: NodeUrl,
    rest: StreamJudge | null,
  ): Verdict {
    const { chain, pool, integrity, retryMissingBlocks } = this.#options
    const { failures } = chain
    const { checks, block } = asked
    if (integrity === 'core' || integrity === 'full') {
      const isNamed = lastPointOf(block)?.kind === 'number'
      const horizon = () => (isNamed ? null : pool.horizonOf(upstream))
      const question = { checks, block, upstream: upstream.name, skipVerifications, horizon }
      const found = findViolation(body, value, question, this.#memory)
      if (found?.certain)
        return failed(failures.ofAnswer('violated'), found.check, 'as-it-is', found)
    }
    const missedBlock = this.#missesBlock(body, value, asked)
    if (!missedBlock || !retryMissingBlocks)
      return { kind: 'answer', isResult: asked.known, missedBlock, rest }
    const missing = failures.ofAnswer('missing-block')
    return { ...failed(missing, 'null for a block that exists', 'as-it-is'), missedBlock }
  }

  /** Some nodes say in a result, not as an error, that they do not take a transaction: it is their answer. */
  #refusalIn(
    body: Uint8Array,
    value: Span,
    path: NonNullable<Classification['refusal']>,
  ): FailureClass | null {
    const result = parseSpan(body, value.start, value.end)
    const code = Number(memberAt(result, path.code))
    // What is no code at all says nothing.
    if (code === 0 || Number.isNaN(code)) return null
    const words = memberAt(result, path.message)
    const message = typeof words === 'string' ? words.slice(0, maxMessageLength) : ''
    const failure = this.#options.chain.failures.ofNodeError({ status: 200, code, message })
    // Another node may have room for it.
    const retry = failure.whose === 'node' && failure.retry
    const transaction = failure.transaction ?? (retry ? null : 'refused')
    const unblamed = { weight: 0, holdOff: false, reported: false, late: false }
    return { ...failure, ...unblamed, whose: 'node', retry, transaction }
  }

  /** Null for a block that every chain has, or for a height that this one has reached, from a method whose null says that it has not. */
  #missesBlock(body: Uint8Array, value: Span, { block, checks }: Classification): boolean {
    if (body[value.start] !== 0x6e || !checks.some(({ rule }) => rule.check === 'exists'))
      return false
    if (block.kind === 'tag') return block.tag !== 'pending'
    const { tip } = this.#options.pool
    return block.kind === 'number' && tip !== null && block.number <= tip
  }
}

function failed(
  failure: FailureClass,
  detail: string,
  passOn: FailedVerdict['passOn'],
  found: Violation | null = null,
): FailedVerdict {
  return { kind: 'failed', failure, detail, passOn, violation: found, missedBlock: false }
}

function memberAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Readonly<Record<string, unknown>>)[key]
  }
  return at
}
