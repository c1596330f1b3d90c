// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** After this time what was measured counts half. */
const halfLifeMs = 60_000
/** A mean in which what is older counts less. */
class DecayingMean {
  #sum = 0
  #weight = 0
  #atMs = 0

  add(value: number, nowMs: number): void {
    this.#decayTo(nowMs)
    this.#sum += value
    this.#weight += 1
  }

  /** The mean, drawn towards `prior` as if that had been seen once more. */
  mean(prior: number, nowMs: number): number {
    this.#decayTo(nowMs)
    return (this.#sum + prior) / (this.#weight + 1)
  }

  /** Null when nothing was measured lately. */
  value(nowMs: number): number | null {
    this.#decayTo(nowMs)
    return this.#weight < 0.01 ? null : this.#sum / this.#weight
  }

  #decayTo(nowMs: number): void {
    const kept = 0.5 ** ((nowMs - this.#atMs) / halfLifeMs)
    this.#sum *= kept
    this.#weight *= kept
    this.#atMs = nowMs
  }
}

/** What was measured of one upstream. `docs/concepts/selection.md` has the formulas. */
export class Score {
  readonly #availability = new DecayingMean()
  readonly #latency = new DecayingMean()

  /** @param latencyMs null where the time that it took says nothing */
  succeeded(latencyMs: number | null, nowMs: number): void {
    this.#availability.add(1, nowMs)
    if (latencyMs !== null) this.#latency.add(latencyMs, nowMs)
  }

  /** It was not waited for to the end: it is at least as slow as that. */
  outrun(elapsedMs: number, nowMs: number): void {
    if (elapsedMs > (this.latencyMs(nowMs) ?? 0)) this.#latency.add(elapsedMs, nowMs)
  }

  failed(nowMs: number): void {
    this.#availability.add(0, nowMs)
  }

  /** Share of calls that it answered lately, in [0, 1]; 1 when nothing is known. */
  availability(nowMs: number): number {
    return this.#availability.mean(1, nowMs)
  }

  /** Of an answer, in milliseconds; null when none was measured lately. */
  latencyMs(nowMs: number): number | null {
    return this.#latency.value(nowMs)
  }
}
