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
import { NobodyServes } from './router.ts'

/** How often the files are looked at. What has changed is read once it was the same twice. */
const lookMs = 500
/** After that, a config whose upstreams could not serve is tried again. */
const againMs = 30_000
/** The times of files are those of the last tick of the kernel. */
const tickMs = 10

export interface ReloadOptions {
  /** Reads and judges the config as at the start. */
  readonly readConfig: () => Promise<CheckedConfig>
  /** Takes a config over at once, or not at all. @throws TlsFileError, NobodyServes */
  readonly apply: (config: RouterConfig) => Promise<void>
  /** Has the secrets of both kept out of the log. */
  readonly redact: (next: CheckedConfig, served: CheckedConfig) => void
  readonly state: ConfigState
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Keeps a running router at what its files say: they are read again when one of them changes, and on `reload`. A config
 * that is wrong, or needs a new process, is refused as a whole, and the one before goes on.
 */
export class Reloader {
  readonly #parts: ReloadOptions
  readonly #stop = new AbortController()
  #served: CheckedConfig
  /** Those of the config that was read last, served or refused. */
  #files: readonly string[]
  /** The state in which they were read. */
  #read = ''
  /** When reading those of the start began, on the wall. */
  readonly #beganMs: number
  #againAtMs = Infinity
  #running: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | null = null

  /** @param beganMs when reading the files of this config began, on the wall */
  constructor(served: CheckedConfig, beganMs: number, parts: ReloadOptions) {
    this.#parts = parts
    this.#beganMs = beganMs
    this.#served = served
    this.#files = served.files
  }

  /** Looks at the files until it is stopped. */
  async watch(): Promise<void> {
    const { clock } = this.#parts
    const { signal } = this.#stop
    let last = (this.#read ||= await stateOf(this.#files, this.#beganMs))
    while (!signal.aborted) {
      await sleep(clock, lookMs, signal).catch(() => {})
      const now = await stateOf(this.#files)
      if (now === last && this.#isDue(now)) await this.reload('its files have changed', true)
      last = now
    }
  }

  /** Ends the watch; a reload that has begun goes on. */
  stop(): void {
    this.#stop.abort()
  }

  /**
   * Reads the config again. Never rejects. One at a time: who asks while one waits gets what that one finds.
   * @param ifChanged not where a reload before it has read the files as they are
   */
  reload(why: string, ifChanged = false): Promise<void> {
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = null
      return (this.#running = this.#reload(why, ifChanged))
    })
    return this.#waiting
  }

  async #reload(why: string, ifChanged: boolean): Promise<void> {
    const { readConfig, apply, redact, state, logger, clock } = this.#parts
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
        return this.#refuse(
          errors.length === 1 ? '1 error, see the log' : `${errors.length} errors, see the log`,
          sha256,
        )
      await apply(next.config)
      this.#served = next
      state.applied(next.sha256)
      logger.info('config reloaded', { why, sha256: next.sha256 })
    } catch (error) {
      if (error instanceof NobodyServes) this.#againAtMs = clock.nowMs() + againMs
      // Or a file was exchanged after it was judged.
      if (error instanceof NobodyServes || error instanceof TlsFileError)
        return this.#refuse(error.message, sha256, error instanceof NobodyServes)
      logger.error('reloading the config failed', { error: error as Error })
      this.#refuse('a defect of the router, see the log', sha256)
    }
  }

  #isDue(now: string): boolean {
    return now !== this.#read || this.#parts.clock.nowMs() >= this.#againAtMs
  }

  #refuse(why: string, sha256: string, retries = false): void {
    const { state, logger } = this.#parts
    state.refused({ why, sha256, retries })
    logger.error('config refused: the one before goes on', { why, serves: state.sha256 })
  }
}

/**
 * Differs when a file was written, exchanged or removed; also where a symbolic link leads elsewhere.
 * @param readMs when reading them began: one that has changed since may have been read before or after
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
