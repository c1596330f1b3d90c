// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

interface Refusal {
  readonly why: string
  /** Hash of the config file. */
  readonly sha256: string
  /** Whether the router retries by itself, because the upstreams may recover. */
  readonly retries: boolean
  readonly atMs: number
}

/** The active config, and the result of the last reload. */
export class ConfigState {
  readonly #clock: Pick<Clock, 'wallMs'>
  /** SHA-256 of the file's text, as `sha256sum` prints it. */
  sha256: string
  /** When this config became active, in milliseconds since the Unix epoch. */
  sinceMs: number
  /** Why the current files are not active; null if they are. */
  refusal: Refusal | null = null
  /** Number of reloads by result. */
  readonly reloads = { applied: 0, refused: 0 }

  constructor(clock: Pick<Clock, 'wallMs'>, sha256: string) {
    this.#clock = clock
    this.sha256 = sha256
    this.sinceMs = clock.wallMs()
  }

  /** For programs: times are in ISO 8601; `refused` is null while the files are active. */
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

/** Formats a time in ISO 8601. @param wallMs since the Unix epoch */
export function timeOf(wallMs: number): string {
  return new Date(wallMs).toISOString()
}
