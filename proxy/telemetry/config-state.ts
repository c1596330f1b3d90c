// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

/** A config file that was read. */
export interface ReadConfig {
  /** Of the file's text, as `sha256sum` prints it; null when it could not be read. */
  readonly sha256: string | null
}

/** The config that the router serves, and what came of the last attempt to take over another one. */
export class ConfigState {
  readonly #clock: Pick<Clock, 'wallMs'>
  sha256: string | null
  /** In milliseconds since the Unix epoch. */
  sinceMs: number
  applied = 0
  refused = 0
  /** Why the file as it is now is not served; null when it is. */
  failure: { readonly atMs: number; readonly why: string } | null = null

  constructor(clock: Pick<Clock, 'wallMs'>, { sha256 }: ReadConfig) {
    this.#clock = clock
    this.sha256 = sha256
    this.sinceMs = clock.wallMs()
  }

  apply({ sha256 }: ReadConfig): void {
    this.sha256 = sha256
    this.sinceMs = this.#clock.wallMs()
    this.applied += 1
    this.failure = null
  }

  refuse(why: string): void {
    this.refused += 1
    this.failure = { atMs: this.#clock.wallMs(), why }
  }

  /** For `/readyz?verbose`. */
  get line(): string {
    const at = (ms: number) => new Date(ms).toISOString()
    const served = `config ${this.sha256} since ${at(this.sinceMs)}`
    return this.failure
      ? `${served}; a newer one was refused at ${at(this.failure.atMs)}: ${this.failure.why}`
      : served
  }
}
