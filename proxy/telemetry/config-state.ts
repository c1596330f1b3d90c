// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

/** Why a router refuses a config. */
interface Refusal {
  readonly why: string
  /** Hash of the config file. */
  readonly sha256: string
  /** Whether the router retries it by itself, because its upstreams may recover. */
  readonly retries: boolean
  readonly atMs: number
}

/** Which config the router serves, and what came of the last attempt to take over another one. */
export class ConfigState {
  readonly #clock: Pick<Clock, 'wallMs'>
  /** Of the text of its file, as `sha256sum` prints it. */
  sha256: string
  /** Since when, in milliseconds since the Unix epoch. */
  sinceMs: number
  /** Why what the files say now is not served; null when it is. */
  refusal: Refusal | null = null
  /** How often it was reloaded, by the result. */
  readonly reloads = { applied: 0, refused: 0 }

  constructor(clock: Pick<Clock, 'wallMs'>, sha256: string) {
    this.#clock = clock
    this.sha256 = sha256
    this.sinceMs = clock.wallMs()
  }

  /** For programs: times are in ISO 8601, `refused` is null while the files are served. */
  get facts() {
    const { refusal } = this
    const refused = refusal && { ...refusal, atMs: undefined, at: timeOf(refusal.atMs) }
    return { sha256: this.sha256, since: timeOf(this.sinceMs), refused }
  }

  applied(sha256: string): void {
    this.sha256 = sha256
    this.sinceMs = this.#clock.wallMs()
    this.refusal = null
    this.reloads.applied += 1
  }

  refused(refusal: Omit<Refusal, 'atMs'>): void {
    this.refusal = { ...refusal, atMs: this.#clock.wallMs() }
    this.reloads.refused += 1
  }
}

/** In ISO 8601. @param wallMs since the Unix epoch */
export function timeOf(wallMs: number): string {
  return new Date(wallMs).toISOString()
}
