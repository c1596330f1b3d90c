// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Violation } from '../integrity/violation.ts'
import type { Attempt } from './attempt.ts'
import type { AnswerValidator } from './answer-validator.ts'

/**
 * The attempts of a call whose answers do not fit its request. What two upstreams show alike is what this
 * chain is like, and is passed on; a violation that no other upstream shows is a failure of its upstream.
 */
export class ViolationQuorum {
  readonly #judge: AnswerValidator
  #all: Attempt[] = []
  #passedOn: Violation | null = null

  constructor(judge: AnswerValidator) {
    this.#judge = judge
  }

  /** @returns whether another upstream shows the same, so that the answer can be passed on */
  add(attempt: Attempt): boolean {
    const { violation, reply } = attempt
    const others = this.#all.filter(({ upstream }) => upstream !== attempt.upstream)
    const alike = reply && others.find((each) => isSame(each.violation, violation))
    if (alike && violation) {
      alike.excuse()
      this.#all = this.#all.filter((each) => each !== alike)
      this.#judge.passedOn(violation)
      this.#passedOn = violation
    } else if (!isSame(this.#passedOn, violation)) {
      this.#all.push(attempt)
      return false
    }
    attempt.excuse()
    return true
  }

  /** No other upstream shows the same. */
  blame(): void {
    for (const attempt of this.#all) attempt.blame()
    this.#all = []
  }
}

/** A broken envelope is no answer, however many upstreams send it. */
function isSame(one: Violation | null, other: Violation | null): boolean {
  if (one === null || one.check === 'envelope') return false
  return one.check === other?.check && one.detail === other.detail
}
