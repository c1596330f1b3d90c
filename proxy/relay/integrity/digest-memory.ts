// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** So many hashes are remembered; those that were not heard of for the longest time go first. */
const capacity = 4_096
/** More digests of one hash than this are not kept apart. */
const maxVersions = 6
/** More forms than all forks of a chain have. */
const maxForms = 64

/** So many that show the same are believed; where the form is proven it takes more of them. */
const enough = 2
const enoughAgainstProof = 3

/** What was shown of one hash. */
interface Shown {
  /** Somebody showed what the hash is made from. */
  isTrue: boolean
  /** Who showed something else, by the digest of it. */
  readonly others: Map<string, Set<string>>
}

/** `fits`: nothing speaks against it. `doubted`: it does not fit, and so it may be on this chain. */
export type DigestVerdict = 'fits' | 'doubted' | 'contradicted'

/**
 * Whether hashes are made from what is shown beside them. Nobody can show anything else that makes
 * the same hash, so whoever does it once proves that this chain makes its hashes so from things of
 * that form: a fork may add what the router does not know. Where it is proven, what does not fit is
 * a lie. Where it is not, it is only doubted. What several show alike is believed: then this chain
 * makes its hashes in another way.
 */
export class DigestMemory {
  readonly #shown = new Map<string, Shown>()
  readonly #proven = new Set<string>()
  readonly #unfit = new Set<string>()
  #turn = 0

  /** Counts up: for whoever looks at a part each time. */
  nextTurn(): number {
    return this.#turn++
  }

  get size(): number {
    return this.#shown.size
  }

  /**
   * Hash and digest are in one form, such as `bareHash` gives.
   * @param digest of what is shown; null when a part of it is left out
   */
  hear(teller: string, whole: string, hash: string, digest: string | null): DigestVerdict {
    // What is shown in part is of a form of its own.
    const form = digest === null ? `part of ${whole}` : whole
    if (digest === hash) {
      this.#shownOf(hash).isTrue = true
      keep(this.#proven, form)
      this.#unfit.delete(form)
      return 'fits'
    }
    // On a chain where nobody shows all of it, nothing is left out.
    if (digest === null && this.#proven.size === 0) return 'fits'
    const shown = this.#shownOf(hash)
    if (digest !== null && shown.isTrue) return 'contradicted'
    const told = digest ?? form
    const tellers = shown.others.get(told) ?? new Set()
    tellers.add(teller)
    if (shown.others.size < maxVersions) shown.others.set(told, tellers)
    const rivals = [...shown.others.values()].filter((each) => each !== tellers)
    const needed = this.#proven.has(form) ? enoughAgainstProof : enough
    if (
      (!shown.isTrue || digest === null) &&
      tellers.size >= needed &&
      rivals.every(({ size }) => size < tellers.size)
    ) {
      keep(this.#unfit, form)
      this.#proven.delete(form)
      return 'fits'
    }
    if (digest !== null && this.#proven.has(form)) return 'contradicted'
    return this.#unfit.has(form) && rivals.length === 0 && !shown.isTrue ? 'fits' : 'doubted'
  }

  #shownOf(hash: string): Shown {
    const shown = this.#shown.get(hash) ?? { isTrue: false, others: new Map() }
    this.#shown.delete(hash)
    this.#shown.set(hash, shown)
    if (this.#shown.size > capacity) {
      const [oldest] = this.#shown.keys()
      this.#shown.delete(oldest as string)
    }
    return shown
  }
}

function keep(forms: Set<string>, form: string): void {
  forms.delete(form)
  forms.add(form)
  if (forms.size > maxForms) {
    const [oldest] = forms
    forms.delete(oldest as string)
  }
}
