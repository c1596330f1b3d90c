// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Violation } from '../integrity/violation.ts'
import type { Exchange } from './exchange.ts'
import type { AnswerValidator } from './answer-validator.ts'

/**
 * Collects attempts whose answers violate a check. If two upstreams agree, the chain evidently
 * works this way and the client gets the answer. Otherwise the upstream of the violation failed.
 */
export class ViolationQuorum {
  readonly #validator: AnswerValidator
  #all: Exchange[] = []
  #passedOn: Violation | null = null

  constructor(validator: AnswerValidator) {
    this.#validator = validator
  }

  /** @returns whether another upstream returned the same, so that the client can get the answer */
  add(exchange: Exchange): boolean {
    const { violation, reply } = exchange
    const others = this.#all.filter(({ upstream }) => upstream !== exchange.upstream)
    const alike = reply && others.find((each) => isSame(each.violation, violation))
    if (alike && violation) {
      alike.excuse()
      this.#all = this.#all.filter((each) => each !== alike)
      this.#validator.passedOn(violation)
      this.#passedOn = violation
    } else if (!isSame(this.#passedOn, violation)) {
      this.#all.push(exchange)
      return false
    }
    exchange.excuse()
    return true
  }

  /** Counts the remaining violations as failures of their upstreams. */
  blame(): void {
    for (const exchange of this.#all) exchange.blame()
    this.#all = []
  }
}

/** A broken envelope is never an answer, however many upstreams send it. */
function isSame(one: Violation | null, other: Violation | null): boolean {
  if (one === null || one.check === 'envelope') return false
  return one.check === other?.check && one.detail === other.detail
}
