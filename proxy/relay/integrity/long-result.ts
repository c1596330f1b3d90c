// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckPath } from '../../chain/check-rule.ts'
import { AbridgedResult, usualWindowBytes } from './abridged-result.ts'
import type { BlockMemory } from './block-memory.ts'
import { findViolationIn, type Asked } from './find-violation.ts'
import { isTold, isWhole, listOf, namesOf } from './partial-checks.ts'
import { keyOf, type ResultDocument } from './result-document.ts'
import { violation, type Violation } from './violation.ts'

/**
 * Checks a result that is too long to be held, while it passes, by what the checks look at. Only what
 * is certain is found: nobody else can be asked once a part was passed on.
 */
export class LongResult {
  readonly #asked: Asked
  readonly #memory: BlockMemory
  readonly #abridged: AbridgedResult
  #found: Violation | null = null
  #isOver = false

  constructor(asked: Asked, memory: BlockMemory, windowBytes = usualWindowBytes) {
    this.#asked = asked
    this.#memory = memory
    const rules = asked.checks.map(({ rule }) => rule)
    const lists = new Map<string, CheckPath>()
    for (const rule of rules) {
      const list = listOf(rule)
      if (list) lists.set(keyOf(list), list)
    }
    const names = new Set(rules.flatMap(namesOf))
    this.#abridged = new AbridgedResult(names, [...lists.values()], windowBytes, (part) => {
      this.#checkPart(part)
    })
  }

  /** Takes the next bytes, of which those behind the result are passed over. */
  push(bytes: Uint8Array): Violation | null {
    const abridged = this.#abridged
    if (this.#isOver) return this.#found
    abridged.push(bytes)
    if (abridged.isTooLong)
      this.#found ??= violation('shape', 'more of what is compared than an answer holds')
    if (abridged.isComplete) this.#checkWhole()
    this.#isOver = this.#found !== null || abridged.isComplete
    return this.#found
  }

  /** What the bytes that have come by now show. */
  checkBeginning(): Violation | null {
    const part = this.#abridged.document
    if (part && !this.#isOver) this.#checkPart(part)
    return this.#found
  }

  /** There are no more bytes. */
  end(): Violation | null {
    if (this.#isOver) return this.#found
    this.#abridged.end()
    return this.push(new Uint8Array())
  }

  #checkPart(part: ResultDocument): void {
    const checks = this.#checks().filter((check) => isTold(check, part, this.#asked.block))
    this.#found ??= this.#certain(part, checks)
  }

  #checkWhole(): void {
    const whole = this.#abridged.document
    if (!whole) return
    const checks = this.#checks().filter((check) => isWhole(check, whole))
    this.#found ??= this.#certain(whole, checks)
  }

  /** Where a part of a list is lost, nobody knows how far it counted. */
  #checks(): Asked['checks'] {
    const { hasLost, hasStrangers } = this.#abridged
    return this.#asked.checks.filter(({ rule }) => {
      if (rule.check === 'items') return !hasLost || rule.each === null
      if (rule.check === 'fee-history') return !hasLost
      // What a fork adds to headers is not kept.
      return rule.check !== 'header' || rule.form === 'bitcoin' || !hasStrangers
    })
  }

  #certain(document: ResultDocument, checks: Asked['checks']): Violation | null {
    const found = findViolationIn(document, { ...this.#asked, checks }, this.#memory)
    return found?.certain ? found : null
  }
}
