// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain } from '../chain/types.ts'
import type { IntegrityLevel } from '../config/types.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { BlockMemory } from './integrity/block-memory.ts'
import { findViolation } from './integrity/find-violation.ts'
import { violation, type Violation } from './integrity/violation.ts'
import { quotedFrom } from './quoted.ts'
import type { Finding, StreamJudge } from './reply.ts'

/** What an upstream's answer is worth. */
export type Judgement =
  | {
      readonly kind: 'answer'
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
  readonly pool: Pick<Pool, 'tip'>
  readonly integrity: IntegrityLevel
  readonly retryMissingBlocks: boolean
}

/** Says what an answer to a call is worth, and remembers of blocks what it needs to. */
export class Judge {
  readonly #options: JudgeOptions
  readonly #memory = new BlockMemory()

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  judge(incoming: Incoming, call: Call, upstream: Upstream, url: NodeUrl): Judgement {
    const { chain, integrity, retryMissingBlocks } = this.#options
    const { failures } = chain
    const finding = call.reader.read(incoming)
    if (finding.kind === 'malformed') {
      const isPage = incoming.status >= 400
      if (integrity === 'off' && !isPage) return { kind: 'answer', missedBlock: false, rest: null }
      // A broken answer that claims success is never passed on; an error page is the node's own word.
      const failure = failures.ofStatus(incoming.status)
      if (isPage) {
        // A stranger may make up what a gateway in front of the node refuses.
        const weight = call.asked.known ? failure.weight : 0
        return failed({ ...failure, weight }, finding.why, 'as-it-is')
      }
      const broken = violation('envelope', finding.why)
      return { ...failed(failure, finding.why, null), violation: broken }
    }
    const { rest = null } = finding
    if (finding.kind === 'node-error') {
      const failure = failures.ofNodeError(finding.error, quotedFrom(call.request))
      if (!failure.retry && !failure.holdOff) return { kind: 'refusal', failure, rest }
      return failed(failure, `code ${finding.error.code}`, 'node-error')
    }
    const found = integrity === 'full' ? this.#check(incoming, finding, call, upstream, url) : null
    if (found) {
      const { certain, check } = found
      const failure = failures.ofAnswer(certain ? 'violated' : 'doubted')
      // What is only doubted may be true: it is the answer when nobody else has one.
      return { ...failed(failure, check, certain ? null : 'as-it-is'), violation: found }
    }
    const missedBlock = this.#missesBlock(incoming, finding, call)
    if (!missedBlock || !retryMissingBlocks) return { kind: 'answer', missedBlock, rest }
    const failure = failures.ofAnswer('missing-block')
    return { ...failed(failure, 'null for a block that exists', 'as-it-is'), missedBlock }
  }

  #check(
    { body }: Incoming,
    { value }: Extract<Finding, { kind: 'result' }>,
    { asked }: Call,
    upstream: Upstream,
    { skipVerifications }: NodeUrl,
  ): Violation | null {
    if (!value || !(body instanceof Uint8Array)) return null
    const { checks, block } = asked
    const question = { checks, block, upstream: upstream.name, skipVerifications }
    return findViolation(body, value, question, this.#memory)
  }

  /** Null for a block that every chain has, or for a height that this one has reached, from a method whose null says that it has not. */
  #missesBlock(
    { body }: Incoming,
    { value }: Extract<Finding, { kind: 'result' }>,
    { asked }: Call,
  ): boolean {
    const { block, checks } = asked
    if (!value || !(body instanceof Uint8Array)) return false
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
  passOn: FailedJudgement['passOn'],
): FailedJudgement {
  return { kind: 'failed', failure, detail, passOn, violation: null, missedBlock: false }
}
