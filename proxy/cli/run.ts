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
import { signalsAsked } from '../telemetry/otel/switched-on.ts'
import type { CommandLine } from './command-line.ts'
import type { CommandIo } from './validate.ts'
import {
  exitCodes,
  checkConfig,
  problemLine,
  type ConfigRequest,
} from '../router/checked-config.ts'
import { startRecording } from './record.ts'
import { Reloader } from '../router/reload.ts'
import { createRouter } from '../router/router.ts'
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
  const input = { ...request, environment: io.environment }
  const clock = systemClock
  const beganMs = clock.wallMs()
  const first = await checkConfig(input)
  const { config, problems, catalog } = first
  if (config === null || catalog === null) {
    for (const problem of problems)
      io.stderr.write(`${first.redact(problemLine(configPath, problem))}\n`)
    // The operator reads this hash from the log of a pod: it identifies the refused config.
    io.stderr.write(`${configPath}: error: this config is refused; its sha256: ${first.sha256}.\n`)
    return exitCodes.invalid
  }
  let redact = (text: string) => first.redact(text)
  const { logLevel: level, logFormat: format } = config
  const colours = process.stdout.isTTY && !io.environment['NO_COLOR']
  const logger = createLogger({ level, format, colours, redact: (text) => redact(text) })
  for (const { path, line, message, hint } of problems)
    logger.warn(`config: ${message}`, { path, line, hint })
  const stores = await loadStores(config)
  const state = new ConfigState(clock, first.sha256)
  const tracing = await loadTracing(io.environment, { version, clock, logger })
  const recorder = startRecording(own, { clock, logger })
  if (recorder && 'severity' in recorder) {
    io.stderr.write(`${problemLine('router', recorder)}\n`)
    return exitCodes.invalid
  }
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
  }
  const router = createRouter(config, context)
  const reloader = new Reloader(first, beganMs, {
    readConfig: () => checkConfig(input, catalog),
    async apply(next) {
      await router.reload(next)
      setLog(next)
    },
    // Calls in flight still carry keys of the config being served.
    redact: (next, served) => (redact = (text) => next.redact(served.redact(text))),
    ...{ state, logger, clock },
  })
  const setLog = switchableLog(logger, config)
  const stopSignal = onceStopped(logger)
  try {
    await router.start()
  } catch (error) {
    logger.error('the router cannot start', { error: error as Error })
    // Otherwise the next start would refuse to overwrite the recording.
    for (const path of own.record ?? []) rmSync(path, { force: true })
    return exitCodes.failed
  }
  switchOffPretenuring()
  logger.info('router started', { version, config: configPath, sha256: first.sha256 })
  process.on('SIGHUP', () => void reloader.reload('SIGHUP'))
  void reloader.watch()
  const signal = await stopSignal
  logger.info('stopping: calls in flight are answered first', { signal })
  reloader.stop()
  // At Ctrl-C nobody wants to wait for clients that send nothing.
  const answered = await router.stop(signal !== 'SIGINT')
  await recorder?.close()
  if (answered) logger.info('router stopped: every call in flight was answered')
  else logger.warn('router stopped: the drain time was over before every call was answered')
  const code = answered ? exitCodes.done : exitCodes.failed
  await tracing?.stop()
  // A hanging collector would hold the process for as long as the SDK retries.
  if (tracing) process.exit(code)
  return code
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
    const signals = signalsAsked(env)
    if (signals === null) return null
    const { startTracing } = await import('../telemetry/otel/start.ts')
    return startTracing(signals, env, context)
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
