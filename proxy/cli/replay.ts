// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { open } from 'node:fs/promises'
import { sleep, systemClock as clock } from '../clock/clock.ts'
import { problemAt, whyUnreadable } from '../config/problem.ts'
import { parseJson } from '../json/scanner.ts'
import { brokenOff } from '../listener/calls.ts'
import { isFailure, outcomeOf } from '../telemetry/call-counters.ts'
import { ConfigState } from '../telemetry/config-state.ts'
import { createLogger } from '../telemetry/log.ts'
import { recordedCall } from '../telemetry/record/recording.ts'
import type { CommandLine } from './command-line.ts'
import { exitCodes, checkConfig, problemLine } from '../router/checked-config.ts'
import { type LoopbackRouter, startOnLoopback } from './replay/loopback-router.ts'
import { compare, isFixed, Report } from './replay/report.ts'
import type { CommandIo } from './validate.ts'

const maxInFlight = 16

/**
 * Replays the calls of a recording through a config's router, and reports different answers.
 * @returns the exit code: 0; 1 on a real difference or a failed call; 2 for invalid input
 */
export async function runReplay(
  { positionals: [path], flags, own }: CommandLine,
  version: string,
  io: CommandIo,
): Promise<number> {
  const refuse = (file: string, message: string, hint: string | null = null) => {
    io.stderr.write(`${problemLine(file, problemAt('', null, message, hint))}\n`)
    return exitCodes.invalid
  }
  const { against: [configPath] = [], rate: [rate] = [20] } = own
  if (path === undefined || configPath === undefined) {
    const hint = 'Write router replay <recording> --against <config.yml>.'
    return refuse('router', 'a file is missing', hint)
  }
  const request = { configPath, flags, environment: io.environment }
  const { sha256, config, catalog, problems, redact } = await checkConfig(request)
  for (const problem of problems) io.stderr.write(`${redact(problemLine(configPath, problem))}\n`)
  if (config === null || catalog === null) return exitCodes.invalid
  let why = 'it is not a regular file'
  await using file = await open(path).catch((error: unknown) => {
    why = whyUnreadable(error)
    return null
  })
  if (!file || !(await file.stat()).isFile()) return refuse(path, why)
  const logger = createLogger({ level: 'error', format: 'text', redact, destination: io.stderr })
  const context = { catalog, version, logger, state: new ConfigState(clock, sha256) }
  await using router = await startOnLoopback(config, context)
  const report = new Report()
  const send = sendingAgain(router, report, Number(rate))
  const lines = file.readLines({ autoClose: false })[Symbol.asyncIterator]()
  let line = 0
  const sendNext = async () => {
    for (let next = await lines.next(); !next.done; next = await lines.next())
      await send(next.value, (line += 1))
  }
  await Promise.all(Array.from({ length: maxInFlight }, sendNext))
  io.stdout.write(redact(report.toText()))
  const { same, mayDiffer, differs, failed } = report.calls
  if (same + mayDiffer + differs + failed === 0)
    return refuse(path, 'none of its calls can be sent again')
  return differs + failed === 0 ? exitCodes.done : exitCodes.failed
}

/** @returns replays the call of a line in its turn, and settles once it is reported */
function sendingAgain(router: LoopbackRouter, report: Report, ratePerSecond: number) {
  let dueMs = clock.nowMs()
  return async (text: string, line: number): Promise<void> => {
    const { data: then } = recordedCall.safeParse(parseJson(Buffer.from(text)))
    const about = { line, method: then?.method ?? '-' }
    const leaveOut = (what: string) => report.add('skipped', about, null, { what })
    if (!then) return leaveOut('no line of a recording of version 1')
    const { exchange } = then
    if (typeof exchange === 'string') return leaveOut(exchange)
    const ask = router.asking(then)
    if (!ask) return leaveOut(`${then.chain} ${then.interface}: not in the config`)
    dueMs += 1_000 / ratePerSecond
    await sleep(clock, Math.max(0, dueMs - clock.nowMs()))
    const sentMs = clock.nowMs()
    const request = await ask(exchange).catch(brokenOff)
    const tookMs = clock.nowMs() - sentMs
    if (request instanceof Error)
      return report.add('failed', about, null, { what: request.kind.reason, is: request.message })
    const { call, reply, answer } = request
    const outcome = outcomeOf(call, { kind: 'reply', reply })
    if (isFailure(outcome)) return report.add('failed', about, reply.upstream, { what: outcome })
    report.timed(then.method, then.upstream === null ? null : then.totalMs, tookMs)
    const found = compare(exchange.answer, answer, then.interface)
    // A result that became an error of the node is a difference, whatever the chain did meanwhile.
    const isWorse = reply.refusal !== null && hasResult(exchange.answer)
    const result = isWorse || isFixed(call.method, found) ? 'differs' : 'mayDiffer'
    report.add(found.length === 0 ? 'same' : result, about, reply.upstream, ...found)
  }
}

function hasResult(answer: string): boolean {
  const document = parseJson(Buffer.from(answer))
  return typeof document === 'object' && document !== null && !('error' in document)
}
