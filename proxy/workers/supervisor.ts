// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { type Clock, sleep } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { RouterConfig } from '../config/types.ts'
import { createLivePage } from '../console/live-page.ts'
import { checkFree } from '../listener/listener.ts'
import { type CheckedConfig, type ConfigSnapshot, exitCodes } from '../router/checked-config.ts'
import { Reloader, type ReloadOptions, type Refusal } from '../router/reload.ts'
import { CacheServer } from '../store/grpc/cache-server.ts'
import { CacheServiceStore } from '../store/grpc/cache-store.ts'
import { createAdminServer, startAdmin } from '../telemetry/admin-server.ts'
import type { ConfigState } from '../telemetry/config-state.ts'
import type { Logger } from '../telemetry/log.ts'
import { createWorkerMetrics } from '../telemetry/worker-metrics.ts'
import { createOwnerTable } from './owner-table.ts'
import { type FromWorker, type PeerMessage, type ToWorker, workerVariable } from './messages.ts'
import { OneView, WorkerPages } from './one-view.ts'
import { deadMs, Pulse } from './pulse.ts'

/** A worker that has died this often within a minute ends the router. */
const deaths = { most: 5, withinMs: 60_000, firstWaitMs: 500 } as const
/** Memory of the store: for sessions, heads and sent transactions. */
const storeBytes = 16 * 1024 * 1024
/** How long after the drain time a worker that still runs is killed. */
const stopGraceMs = 5_000

export interface SupervisorOptions extends Pick<ReloadOptions, 'readConfig' | 'redact'> {
  readonly first: CheckedConfig
  readonly config: RouterConfig
  readonly snapshot: ConfigSnapshot
  /** Wall-clock time when reading the config began. */
  readonly beganMs: number
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Number of workers, at least 2. */
  readonly count: number
  readonly version: string
  readonly state: ConfigState
  readonly logger: Logger
  readonly clock: Clock
  readonly random: Random
  /** The file descriptor of the recording; null: none. */
  readonly recording: number | null
  /** Resolves with the first signal to stop. */
  readonly stopSignal: Promise<string>
  readonly applied: (config: RouterConfig) => void
  readonly startFailed: () => void
}

/** One process that serves. */
interface Worker {
  readonly number: number
  readonly process: ChildProcess
  readonly pages: WorkerPages
  readonly pulse: Pulse
  hasStarted: boolean
  /** Settles once the worker listens or has ended. */
  readonly settled: PromiseWithResolvers<void>
  /** Receives the answer to the config that it prepares. */
  prepared: (refusal: Refusal | null) => void
}

/**
 * Serves nothing itself: starts the workers, gives them one store and one admin address, replaces
 * those that die or hang, and reloads and stops all of them together.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #workers = new Map<number, Worker>()
  readonly #diedMs = new Map<number, readonly number[]>()
  readonly #failed = Promise.withResolvers<string>()
  #snapshot: ConfigSnapshot
  readonly #allStarted = Promise.withResolvers<void>()
  #directory = ''
  #isStopping = false
  #restarts = 0
  /** Replacements start after a reload, with its result. */
  #reload: Promise<unknown> = Promise.resolve()

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#snapshot = options.snapshot
  }

  /** @returns the exit code */
  async run(): Promise<number> {
    const { config, beganMs, count, version, logger, clock, state } = this.#options
    const { stopSignal, readConfig, redact, applied, startFailed } = this.#options
    this.#directory = await createDirectory()
    createOwnerTable(`${this.#directory}/owners`)
    const store = this.#createStore()
    const admin = this.#createAdmin()
    const reloader = new Reloader(this.#options.first, beganMs, {
      ...{ readConfig, redact, state, logger, clock },
      apply: async (next, nextConfig) => {
        const refusal = await this.#apply(next)
        if (refusal === null) applied(nextConfig)
        return refusal
      },
    })
    let code: number = exitCodes.failed
    try {
      for (const { address } of config.endpoints) await checkFree(address)
      await store.start(`unix:${this.#directory}/store`)
      await startAdmin(admin, config.metricsListenAddress, logger)
      // The others then find what the first has verified.
      const first = this.#startWorker(1)
      void first.settled.promise.then(() => {
        if (!first.hasStarted || this.#isStopping) return
        for (let number = 2; number <= count; number++) this.#startWorker(number)
      })
      const begun = [this.#allStarted.promise, stopSignal].map((each) => each.then(() => null))
      const failure = await Promise.race([...begun, this.#failed.promise])
      if (failure !== null) throw new Error(failure)
      const heapBytesPerWorker = this.#heapBytesPerWorker
      const { sha256 } = this.#options.first
      logger.info('router started', { version, sha256, workers: count, heapBytesPerWorker })
      process.on('SIGHUP', () => void reloader.reload('SIGHUP'))
      process.on('SIGUSR2', () => {
        for (const { process: child } of this.#workers.values()) child.kill('SIGUSR2')
      })
      void reloader.watch()
      const end = await Promise.race([
        stopSignal.then((signal) => ({ signal, failure: null })),
        this.#failed.promise.then((why) => ({ signal: 'SIGTERM', failure: why })),
      ])
      if (end.failure === null)
        logger.info('stopping: calls in flight are answered first', { signal: end.signal })
      else logger.error(`stopping: ${end.failure}`)
      reloader.stop()
      const answered = await this.#stop(end.signal)
      if (end.failure === null && answered) code = exitCodes.done
    } catch (error) {
      logger.error('the router cannot start', { error: error as Error })
      startFailed()
      await this.#stop('SIGTERM')
    }
    await admin?.close()
    await store.stop(clock, 0)
    await rm(this.#directory, { recursive: true, force: true })
    return code
  }

  get #heapBytesPerWorker(): number {
    return Math.floor(getHeapStatistics().heap_size_limit / this.#options.count)
  }

  get #started(): readonly Worker[] {
    return [...this.#workers.values()].filter(({ hasStarted }) => hasStarted)
  }

  #createStore(): CacheServer {
    const { clock, random } = this.#options
    // No router was there before, so no session has to be restored.
    return new CacheServer(new CacheServiceStore(storeBytes, clock, random, 0), () => {})
  }

  #createAdmin() {
    const { config, count, version, state, logger, clock } = this.#options
    const { metricsListenAddress: address, adminHosts: names, adminPage } = config
    if (address === null) return null
    const metrics = createWorkerMetrics({
      ...{ version, config: state },
      serving: () => this.#started.filter(({ pulse }) => pulse.silentSinceMs === null).length,
      restarts: () => this.#restarts,
    })
    const view = new OneView({
      ...{ count, state, metrics },
      workers: () => this.#started,
      isDraining: () => this.#isStopping,
    })
    const page = adminPage === 'off' ? null : createLivePage(() => view.facts(), clock, hostname())
    return createAdminServer({
      ...{ address, names, page, logger },
      metrics: { page: (accept) => view.page(accept) },
      health: {
        readiness: (isVerbose) => view.readiness(isVerbose),
        overall: () => view.overall(),
        status: () => view.status(),
      },
      facts: () => view.facts(),
      explain: (guid, query) => view.explain(guid, query),
    })
  }

  #startWorker(number: number): Worker {
    const { count, recording, logger, clock, environment } = this.#options
    const socket = `${this.#directory}/worker-${number}-${this.#restarts}`
    const heapMiB = Math.floor(this.#heapBytesPerWorker / 1024 / 1024)
    const child = fork(process.argv[1] ?? '', process.argv.slice(2), {
      env: { ...environment, [workerVariable]: String(number) },
      // Without `--`, Node.js would parse --env-file as its own flag.
      execArgv: [...process.execArgv, `--max-old-space-size=${heapMiB}`, '--'],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...(recording === null ? [] : [recording])],
    })
    const pages = new WorkerPages(number, socket)
    const settled = Promise.withResolvers<void>()
    const ping = () => send(worker, { kind: 'ping' })
    const pulse = new Pulse(clock, ping, () => {
      logger.error('a worker does not answer, and is killed', { worker: number, silentMs: deadMs })
      child.kill('SIGKILL')
    })
    const worker: Worker = {
      ...{ number, process: child, pages, pulse, hasStarted: false, settled },
      prepared: () => {},
    }
    this.#workers.set(number, worker)
    child.on('message', (message: FromWorker) => {
      if (message.kind === 'pong') return pulse.answered()
      if (message.kind === 'prepared') return worker.prepared(message.refusal)
      if (message.kind === 'relay') return this.#relay(worker, message.to, message.message)
      worker.hasStarted = true
      pulse.start()
      settled.resolve()
      if (this.#started.length === count) this.#allStarted.resolve()
      if (this.#restarts > 0) logger.info('a worker serves again', { worker: number })
    })
    child.on('error', (error) =>
      logger.error('a worker cannot be started', { worker: number, error }),
    )
    child.on('exit', (code, signal) => {
      pulse.stop()
      pages.close()
      this.#relay(worker, null, { kind: 'gone' })
      // Its replacement starts with the config that the others then serve.
      worker.prepared(null)
      settled.resolve()
      if (this.#isStopping) return
      this.#workers.delete(number)
      void this.#replace(worker, { code, signal })
    })
    send(worker, {
      kind: 'start',
      ...{ count, snapshot: this.#snapshot, pages: socket, directory: this.#directory },
      recording: recording === null ? null : 4,
    })
    return worker
  }

  async #replace(
    { number, hasStarted }: Worker,
    { code, signal }: { readonly code: number | null; readonly signal: string | null },
  ): Promise<void> {
    const { clock, logger } = this.#options
    const nowMs = clock.nowMs()
    const recent = (this.#diedMs.get(number) ?? []).filter((at) => nowMs - at < deaths.withinMs)
    const died = [...recent, nowMs]
    this.#diedMs.set(number, died)
    logger.error('a worker ended, and is replaced', { worker: number, code, signal })
    // One that never served would not do so next time either.
    if (!hasStarted && this.#started.length === 0)
      return this.#failed.resolve(`worker ${number} cannot start: see its log`)
    if (died.length >= deaths.most)
      return this.#failed.resolve(`worker ${number} ended ${died.length} times within a minute`)
    await sleep(clock, died.length === 1 ? 0 : deaths.firstWaitMs * 2 ** (died.length - 1))
    await this.#reload
    if (this.#isStopping) return
    this.#restarts += 1
    this.#startWorker(number)
  }

  /** @param to the number of a worker; null: all others */
  #relay(from: Worker, to: number | null, message: PeerMessage): void {
    const workers = this.#started.filter((each) => to === null || to === each.number)
    for (const worker of workers)
      if (worker !== from) send(worker, { kind: 'relayed', from: from.number, message })
    if (to !== null && workers.length === 0)
      send(from, { kind: 'relayed', from: to, message: { kind: 'gone' } })
  }

  /** Applies a config on all workers, or on none. */
  #apply({ snapshot }: CheckedConfig): Promise<Refusal | null> {
    const applied = this.#exchange(snapshot)
    this.#reload = applied.catch(() => {})
    return applied
  }

  async #exchange(snapshot: ConfigSnapshot | null): Promise<Refusal | null> {
    if (snapshot === null) throw new Error('a valid config has been read')
    // A worker that is starting was given the previous config, and must prepare this one too.
    await Promise.all([...this.#workers.values()].map(({ settled }) => settled.promise))
    const workers = this.#started
    const answers = await Promise.all(
      workers.map((worker) => {
        const { promise, resolve } = Promise.withResolvers<Refusal | null>()
        worker.prepared = resolve
        send(worker, { kind: 'prepare', snapshot })
        return promise
      }),
    )
    if (!workers.some((each) => this.#started.includes(each)))
      return { why: 'every worker ended', retries: true }
    const at = answers.findIndex((each) => each !== null)
    const refusal = answers[at] ?? null
    if (refusal === null) this.#snapshot = snapshot
    for (const worker of workers) send(worker, { kind: refusal === null ? 'commit' : 'discard' })
    return refusal && { ...refusal, why: `worker ${workers[at]?.number}: ${refusal.why}` }
  }

  /** Stops all workers within the drain time. @returns whether they answered every call */
  async #stop(signal: string): Promise<boolean> {
    const { config, clock, logger } = this.#options
    this.#isStopping = true
    const workers = [...this.#workers.values()]
    for (const { pulse } of workers) pulse.stop()
    const ends = workers.map(async ({ process: child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      return new Promise<number | null>((resolve) => child.once('exit', resolve))
    })
    for (const worker of workers) send(worker, { kind: 'stop', signal })
    const cancel = clock.after(config.drainTimeoutMs + stopGraceMs, () => {
      logger.error('workers did not stop in time and are ended')
      for (const { process: child } of workers) child.kill('SIGKILL')
    })
    const codes = await Promise.all(ends)
    cancel()
    const answered = codes.every((code) => code === exitCodes.done)
    if (answered) logger.info('router stopped: every call in flight was answered')
    else logger.warn('router stopped: not every worker answered all of its calls')
    return answered
  }
}

/** The sockets and the table of owners, in memory if the system has a directory for that. */
async function createDirectory(): Promise<string> {
  const create = (where: string) => mkdtemp(join(where, 'router-'))
  return create('/dev/shm').catch(() => create(tmpdir()))
}

function send({ process: child }: Worker, message: ToWorker): void {
  // The channel may have closed a moment ago; `exit` follows.
  if (child.connected) child.send(message, () => {})
}
