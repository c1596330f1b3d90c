// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rmSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { type Clock, systemClock } from '../clock/clock.ts'
import { systemRandom } from '../clock/random.ts'
import { ConfigState } from '../telemetry/config-state.ts'
import type { RouterConfig } from '../config/types.ts'
import { createLogger, type Logger, type ProcessLogger } from '../telemetry/log.ts'
import type { Tracing } from '../telemetry/otel/start.ts'
import { isTracingOn } from '../telemetry/otel/switched-on.ts'
import type { CommandLine } from './command-line.ts'
import type { CommandIo } from './validate.ts'
import {
  exitCodes,
  checkConfig,
  problemLine,
  type ConfigRequest,
} from '../router/checked-config.ts'
import { openRecording } from './record.ts'
import { preparedOrRefused, Reloader, type ReloadOptions } from '../router/reload.ts'
import { createRouter, type SharedCooldown } from '../router/router.ts'
import { createRecorder } from '../telemetry/record/recording.ts'
import { workerVariable } from '../workers/messages.ts'
import { workersOf } from '../workers/share.ts'
import type { WorkerLink } from '../workers/worker.ts'
import { loadStores } from '../router/stores.ts'

type LogConfig = Pick<RouterConfig, 'logLevel' | 'logFormat'>

/**
 * Serves until SIGTERM or SIGINT; a second signal ends it at once.
 * @returns the exit code
 */
export async function run(
  request: Omit<ConfigRequest, 'environment'> & { version: string; own: CommandLine['own'] },
  io: CommandIo,
): Promise<number> {
  const { configPath, version, own } = request
  const worker = await connectedWorker(io.environment)
  const snapshot = worker?.start.snapshot ?? null
  const input = { ...request, environment: io.environment, snapshot }
  const clock = systemClock
  const beganMs = clock.wallMs()
  const first = await checkConfig(input)
  const { config, problems, catalog } = first
  if (config === null || catalog === null) {
    for (const problem of problems)
      io.stderr.write(`${first.redact(problemLine(configPath, problem))}\n`)
    // The operator reads this hash from the log of a pod: it identifies the refused file.
    if (request.text === undefined && first.snapshot)
      io.stderr.write(
        `${configPath}: error: this config is refused; its sha256: ${first.sha256}.\n`,
      )
    return exitCodes.invalid
  }
  let redact = (text: string) => first.redact(text)
  const { logLevel: level, logFormat: format } = config
  const colours = process.stdout.isTTY && !io.environment['NO_COLOR']
  const base = worker && { worker: worker.number }
  const logger = createLogger({
    ...{ level, format, colours, redact: (text) => redact(text) },
    ...(base && { base }),
  })
  if (!worker)
    for (const { path, line, message, hint } of problems)
      logger.warn(`config: ${message}`, { path, line, hint })
  const state = new ConfigState(clock, first.sha256)
  const setLog = switchableLog(logger, config)
  const widen: ReloadOptions['redact'] = (next, served) =>
    // Calls in flight still carry keys of the config being served.
    (redact = (text) => next.redact(served.redact(text)))
  const readConfig = () => checkConfig({ ...input, snapshot: null }, catalog)
  const recording = openRecording(own, worker?.start ?? null)
  if (recording && 'severity' in recording) {
    io.stderr.write(`${problemLine('router', recording)}\n`)
    return exitCodes.invalid
  }
  // Otherwise the next start would refuse to overwrite the recording.
  const dropRecording = () => own.record?.forEach((path) => rmSync(path, { force: true }))
  const count = workersOf(config)
  if (worker === null && count > 1 && first.snapshot) {
    const { Supervisor } = await import('../workers/supervisor.ts')
    const supervisor = new Supervisor({
      ...{ first, config, beganMs, count, version, state, logger, clock, readConfig },
      ...{ random: systemRandom, snapshot: first.snapshot, redact: widen, applied: setLog },
      recording: recording?.fd ?? null,
      startFailed: dropRecording,
      environment: io.environment,
      stopSignal: onceStopped(logger),
    })
    return supervisor.run()
  }
  const stores = worker ? await worker.stores(config) : await loadStores(config)
  const tracing = await loadTracing(io.environment, { version, clock, logger })
  const recorder = recording && createRecorder({ ...recording, clock, logger })
  const context = {
    catalog,
    logger,
    clock,
    random: systemRandom,
    version,
    stores,
    state,
    tracing,
    recorder,
    shareAnswers: worker?.shareAnswers(config, clock) ?? null,
    worker: worker && {
      pages: worker.start.pages,
      cooldownBegan: (cooldown: SharedCooldown) => worker.cooldownBegan(cooldown),
    },
  }
  const router = createRouter(worker ? worker.shareOf(config) : config, context)
  const stopSignal = worker ? worker.stopped : onceStopped(logger)
  try {
    await router.start()
  } catch (error) {
    logger.error('the router cannot start', { error: error as Error })
    if (!worker) dropRecording()
    return exitCodes.failed
  }
  switchOffPretenuring()
  if (worker) {
    let served = first
    worker.started(router, {
      read: (text) => checkConfig({ ...input, snapshot: text }, catalog),
      async prepare(next, nextConfig) {
        widen(next, served)
        const prepared = await router.prepare(worker.shareOf(nextConfig))
        return {
          ...prepared,
          commit() {
            prepared.commit()
            served = next
            state.applied(next.sha256)
            setLog(nextConfig)
          },
        }
      },
    })
  } else {
    const reloader = new Reloader(first, beganMs, {
      ...{ readConfig, redact: widen, state, logger, clock },
      async apply(_, next) {
        const prepared = await preparedOrRefused(() => router.prepare(next))
        if ('why' in prepared) return prepared
        prepared.commit()
        setLog(next)
        return null
      },
    })
    logger.info('router started', { version, config: configPath, sha256: first.sha256 })
    process.on('SIGHUP', () => void reloader.reload('SIGHUP'))
    void reloader.watch()
    void stopSignal.then(() => reloader.stop())
  }
  const signal = await stopSignal
  logger.info('stopping: calls in flight are answered first', { signal })
  // At Ctrl-C nobody wants to wait for clients that send nothing.
  const answered = await router.stop(signal !== 'SIGINT')
  await recorder?.close()
  if (answered) logger.info('router stopped: every call in flight was answered')
  else logger.warn('router stopped: the drain time was over before every call was answered')
  const code = answered ? exitCodes.done : exitCodes.failed
  worker?.disconnect()
  await tracing?.stop()
  // A hanging collector would hold the process for as long as the SDK retries.
  if (tracing) process.exit(code)
  return code
}

/** The link to the supervisor; null if this process is no worker. */
async function connectedWorker(environment: CommandIo['environment']): Promise<WorkerLink | null> {
  const number = environment[workerVariable]
  if (number === undefined || !process.send) return null
  // The supervisor stops its workers; a terminal signals all processes.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  const { connectWorker } = await import('../workers/worker.ts')
  return connectWorker(Number(number))
}

/**
 * SIGUSR2 switches the level to `debug`, and back to that of the config.
 * @returns applies the level and format of another config
 */
function switchableLog(logger: ProcessLogger, first: LogConfig): (next: LogConfig) => void {
  let config = first
  let isDebug = false
  const apply = () => {
    const { logLevel, logFormat: format } = config
    logger.set({ level: isDebug ? 'debug' : logLevel, format })
  }
  process.on('SIGUSR2', () => {
    isDebug = !isDebug
    apply()
    const level = isDebug ? 'debug, until the next SIGUSR2' : config.logLevel
    logger.error(`SIGUSR2: the log level is ${level}`)
  })
  return (next) => {
    config = next
    apply()
  }
}

/** Loads OpenTelemetry if enabled. If that fails, the router must still serve. */
async function loadTracing(
  env: CommandIo['environment'],
  context: { readonly version: string; readonly clock: Clock; readonly logger: Logger },
): Promise<Tracing | null> {
  try {
    if (!isTracingOn(env)) return null
    const { startTracing } = await import('../telemetry/otel/start.ts')
    return startTracing(env, context)
  } catch (error) {
    context.logger.error('OpenTelemetry cannot start, and nothing is exported', { error })
    return null
  }
}

/**
 * Disables V8's pretenuring, whose old-space objects retain the rest of their call until a full
 * collection. With it, four of ten processes took a third more CPU and 70 MB (bench/README.md).
 */
function switchOffPretenuring(): void {
  // Must come first: the compile cache is valid only for the flags that it was written with.
  flushCompileCache()
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/** Resolves on the first stop signal. A second one ends the process immediately. */
export function onceStopped(logger: Logger): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (stopping) {
        logger.warn('ended at once: a second signal came', { signal })
        process.exit(exitCodes.failed)
      }
      stopping = true
      resolve(signal)
    })
  return promise
}
