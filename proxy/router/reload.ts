// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { stat } from 'node:fs/promises'
import { type Clock, sleep } from '../clock/clock.ts'
import { checkFixed } from '../config/live-keys.ts'
import type { RouterConfig } from '../config/types.ts'
import type { ConfigState } from '../telemetry/config-state.ts'
import type { Logger } from '../telemetry/log.ts'
import { TlsFileError } from '../upstream/wire/upstream-target.ts'
import type { CheckedConfig } from './checked-config.ts'
import { NobodyServes, type PreparedConfig } from './router.ts'
import { counted } from '../words/counted.ts'

/** Poll interval for the files. A change is read once two polls agree. */
const pollMs = 500
/** Retry interval for a config whose upstreams could not serve. */
const againMs = 30_000
/** Resolution of file times, which are those of the last kernel tick. */
const tickMs = 10

/** Why a config cannot be applied. */
export interface Refusal {
  readonly why: string
  /** Whether a later attempt may succeed. */
  readonly retries: boolean
}

/**
 * Prepares a config.
 * @returns why it cannot be applied, if that is no defect of the router. @throws any other error
 */
export async function preparedOrRefused(
  prepare: () => Promise<PreparedConfig>,
): Promise<PreparedConfig | Refusal> {
  try {
    return await prepare()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === null) throw error
    return refusal
  }
}

/** @returns null if the error is a defect of the router */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof NobodyServes) return { why: error.message, retries: true }
  // A TLS file may change after validation.
  return error instanceof TlsFileError ? { why: error.message, retries: false } : null
}

export interface ReloadOptions {
  /** Reads and validates the config as at the start. */
  readonly readConfig: () => Promise<CheckedConfig>
  /** Applies a config completely or not at all. @returns why not; null if it did */
  readonly apply: (next: CheckedConfig, config: RouterConfig) => Promise<Refusal | null>
  /** Redacts the secrets of both configs in the log. */
  readonly redact: (next: CheckedConfig, served: CheckedConfig) => void
  readonly state: ConfigState
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Keeps a running router in sync with its files: rereads them on a change or on `reload`. A config
 * that is invalid, or that needs a new process, is refused as a whole, and the previous one stays.
 */
export class Reloader {
  readonly #options: ReloadOptions
  readonly #stop = new AbortController()
  #served: CheckedConfig
  /** Files of the last config read, whether applied or refused. */
  #files: readonly string[]
  /** The state of these files when they were read. */
  #read = ''
  /** Wall-clock time when the first read began. */
  readonly #beganMs: number
  #againAtMs = Infinity
  #running: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | null = null

  /** @param beganMs wall-clock time when reading this config began */
  constructor(served: CheckedConfig, beganMs: number, options: ReloadOptions) {
    this.#options = options
    this.#beganMs = beganMs
    this.#served = served
    this.#files = served.files
  }

  /** Polls the files until `stop`. */
  async watch(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stop
    let last = (this.#read ||= await stateOf(this.#files, this.#beganMs))
    while (!signal.aborted) {
      await sleep(clock, pollMs, signal).catch(() => {})
      const now = await stateOf(this.#files)
      if (now === last && this.#isDue(now)) await this.reload('its files have changed', true)
      last = now
    }
  }

  /** Ends the watch. A reload in progress continues. */
  stop(): void {
    this.#stop.abort()
  }

  /**
   * Rereads the config, one reload at a time. Requests while one is pending share it. Never
   * rejects.
   * @param ifChanged skip if an earlier reload has read the current files
   */
  reload(why: string, ifChanged = false): Promise<void> {
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = null
      return (this.#running = this.#reload(why, ifChanged))
    })
    return this.#waiting
  }

  async #reload(why: string, ifChanged: boolean): Promise<void> {
    const { readConfig, apply, redact, state, logger, clock } = this.#options
    const { signal } = this.#stop
    if (signal.aborted) return
    const beganMs = clock.wallMs()
    const now = await stateOf(this.#files)
    if (ifChanged && !this.#isDue(now)) return
    this.#read = now
    this.#againAtMs = Infinity
    let sha256 = ''
    try {
      const next = await readConfig()
      sha256 = next.sha256
      if (next.files.join('\n') !== this.#files.join('\n')) {
        this.#files = next.files
        this.#read = await stateOf(next.files, beganMs)
      }
      redact(next, this.#served)
      const fixed = next.config ? checkFixed(this.#served.parsed, next.parsed) : []
      const problems = [...next.problems, ...fixed]
      for (const { severity, path, line, message, hint } of problems)
        logger[severity === 'error' ? 'error' : 'warn'](`config: ${message}`, { path, line, hint })
      const errors = problems.filter(({ severity }) => severity === 'error')
      if (next.config === null || errors.length > 0)
        return this.#refuse(`${counted(errors.length, 'error')}, see the log`, sha256)
      const refusal = await apply(next, next.config)
      if (refusal?.retries) this.#againAtMs = clock.nowMs() + againMs
      if (refusal) return this.#refuse(refusal.why, sha256, refusal.retries)
      this.#served = next
      state.applied(next.sha256)
      logger.info('config reloaded', { why, sha256: next.sha256 })
    } catch (error) {
      logger.error('reloading the config failed', { error: error as Error })
      this.#refuse('a defect of the router, see the log', sha256)
    }
  }

  #isDue(now: string): boolean {
    return now !== this.#read || this.#options.clock.nowMs() >= this.#againAtMs
  }

  #refuse(why: string, sha256: string, retries = false): void {
    const { state, logger } = this.#options
    state.refused({ why, sha256, retries })
    logger.error('config refused: the one before goes on', { why, serves: state.sha256 })
  }
}

/**
 * Changes when a file is written, replaced or removed, or when a symbolic link is retargeted.
 * @param readMs when reading began: a later change may or may not have been read
 */
async function stateOf(files: readonly string[], readMs = Infinity): Promise<string> {
  const states = files.map(async (path) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
      const mayBeOther = Number(ctimeNs / 1_000_000n) >= readMs - tickMs
      return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}${mayBeOther ? ' read before' : ''}`
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'unreadable'
    }
  })
  return (await Promise.all(states)).join('\n')
}
