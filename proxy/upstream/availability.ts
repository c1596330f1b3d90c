// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Where an upstream stands; `lagging` is a matter of the tip and is told apart by the pool. */
export type Standing = 'unverified' | 'rejected' | 'eligible' | 'disabled'

export type StandingChange = (from: Standing, to: Standing, why: string) => void

/**
 * The state machine of one upstream.
 *
 * | from       | event                            | to         |
 * |------------|----------------------------------|------------|
 * | unverified | verification passed              | eligible   |
 * | any        | verification failed              | rejected   |
 * | rejected   | verification passed              | eligible   |
 * | eligible   | failures in a row >= threshold   | disabled   |
 * | disabled   | success of a relay or a probe    | eligible   |
 * | disabled   | epoch tick                       | eligible   |
 */
export class Availability {
  readonly #threshold: number
  readonly #changed: StandingChange
  #standing: Standing = 'unverified'
  #failures = 0

  constructor(threshold: number, changed: StandingChange) {
    this.#threshold = threshold
    this.#changed = changed
  }

  get standing(): Standing {
    return this.#standing
  }

  verified(): void {
    if (this.#standing !== 'unverified' && this.#standing !== 'rejected') return
    // What failed before says nothing of one that has just shown that it is well.
    this.#failures = 0
    this.#become('eligible', 'verified')
  }

  rejected(why: string): void {
    this.#become('rejected', why)
  }

  succeeded(): void {
    this.#failures = 0
    if (this.#standing === 'disabled') this.#become('eligible', 'answered again')
  }

  /** @param weight how many failures this one counts for; a refused connection counts double */
  failed(weight: number, why: string): void {
    this.#failures += weight
    if (this.#standing === 'eligible' && this.#failures >= this.#threshold)
      this.#become('disabled', why)
  }

  /** A failure turned out to be none. One that is disabled by now shows by an answer that it is well. */
  excused(weight: number): void {
    this.#failures = Math.max(this.#failures - weight, 0)
  }

  epochBegan(): void {
    if (this.#standing !== 'disabled') return
    this.#failures = 0
    this.#become('eligible', 'a new epoch began')
  }

  #become(standing: Standing, why: string): void {
    const from = this.#standing
    if (from === standing) return
    this.#standing = standing
    this.#changed(from, standing, why)
  }
}
