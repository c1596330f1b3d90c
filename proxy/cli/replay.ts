// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep, systemClock as clock } from '../clock/clock.ts'
import { type Problem, problemAt } from '../config/problem.ts'
import { errorOf } from '../listener/calls.ts'
import { RelayError } from '../relay/errors.ts'
import { isFailure, outcomeOf } from '../telemetry/call-counters.ts'
import { ConfigState } from '../telemetry/config-state.ts'
import { createLogger } from '../telemetry/log.ts'
import {
  BadRecording,
  readRecording,
  type ReadCall,
  whyNot,
} from '../telemetry/record/recording.ts'
import type { CommandLine } from './command-line.ts'
import { type CheckReferences, exitCodes, judgeConfig, problemLine } from './judged-config.ts'
import { compare, isFixed } from './replay/compare.ts'
import { startOnLoopback } from './replay/loopback-router.ts'
import { Report } from './replay/report.ts'
import type { CommandIo } from './validate.ts'

const maxInFlight = 16

/**
 * Sends the calls of a recording again, as a client of the router of a config, and reports what is answered otherwise.
 * @returns the exit code: 0; 1 where an answer differs that must not, or a call failed; 2 for what cannot be replayed
 */
export async function runReplay(
  { positionals: [path], flags, output, own }: CommandLine,
  version: string,
  io: CommandIo,
  checkReferences: CheckReferences,
): Promise<number> {
  const refuse = (file: string, problem: Problem) => {
    io.stderr.write(`${problemLine(file, problem)}\n`)
    return exitCodes.invalid
  }
  const { against: [configPath] = [], limit: [limit] = [Infinity], rate: [rate] = [20] } = own
  if (path === undefined || configPath === undefined) {
    const hint = 'Write router replay <recording> --against <config.yml>.'
    return refuse('router', problemAt('', null, 'a file is missing', hint))
  }
  const asked = { configPath, flags, environment: io.environment }
  const { sha256, config, catalog, problems, redact } = await judgeConfig(asked, checkReferences)
  for (const problem of problems) io.stderr.write(`${redact(problemLine(configPath, problem))}\n`)
  if (config === null || catalog === null) return exitCodes.invalid
  const logger = createLogger({ level: 'error', format: 'text', redact, destination: io.stderr })
  const parts = { catalog, version, logger, state: new ConfigState(clock, sha256) }
  const report = new Report()
  try {
    await using router = await startOnLoopback(config, parts)
    const beganMs = clock.nowMs()
    let sent = 0
    /** What is to be sent, each when it is its turn. */
    const turns = (async function* () {
      for await (const call of readRecording(path)) {
        const turn = turnOf(call, router)
        if (typeof turn === 'string') report.add('leftOut', call, null, turn)
        else if (sent === Number(limit)) return
        else {
          const dueMs = beganMs + (sent++ * 1_000) / Number(rate)
          await sleep(clock, Math.max(0, dueMs - clock.nowMs()))
          yield turn
        }
      }
    })()
    const takeTurns = async () => {
      for await (const turn of turns) await askAgain(turn, report)
    }
    await Promise.all(Array.from({ length: maxInFlight }, takeTurns))
  } catch (error) {
    if (!(error instanceof BadRecording)) throw error
    const position = error.line === null ? null : { line: error.line, column: 1 }
    return refuse(path, problemAt('', position, error.message))
  }
  io.stdout.write(redact(output === 'json' ? `${JSON.stringify(report)}\n` : report.toText()))
  const { same, mayDiffer, differs, failed } = report.calls
  if (same + mayDiffer + differs + failed === 0)
    return refuse(path, problemAt('', null, 'none of its calls can be sent again'))
  return differs + failed === 0 ? exitCodes.done : exitCodes.failed
}

/** A call that can be sent again, and to whom; or why it is left out. */
function turnOf(call: ReadCall, router: Awaited<ReturnType<typeof startOnLoopback>>) {
  const serving = router.serving(call)
  if (serving === null) return `${call.chain} ${call.interface}: not in the config`
  const { leftOut, outcome, request, answer } = call
  if (leftOut !== null) return leftOut
  if (isFailure(outcome)) return `had no answer: ${outcome}`
  if (request?.body === undefined || !answer)
    return 'recorded in part: without params, over 1 MiB, or a stream'
  return { call, ...serving, request: { ...request, body: request.body }, answer }
}

/** Settles when it is reported, whatever came of it. @throws BadRecording */
async function askAgain(
  { call: then, ask, policies, request, answer }: Exclude<ReturnType<typeof turnOf>, string>,
  report: Report,
): Promise<void> {
  const sentMs = clock.nowMs()
  const { call, reply, body } = await ask(request, then.line)
  const tookMs = clock.nowMs() - sentMs
  const { method } = call.asked
  const about = { line: then.line, method }
  const why = whyNot(call.asked)
  if (why !== null) return report.add('leftOut', about, null, why)
  const now = await reply.catch(errorOf)
  if (now instanceof RelayError) {
    const found = { what: now.kind.reason, was: null, is: now.message }
    return report.add('failed', about, null, [found])
  }
  const { upstream, refusal } = now
  const outcome = outcomeOf(call, { kind: 'reply', reply: now })
  if (body === null) return report.add('failed', about, upstream, 'an answer without its end')
  if (isFailure(outcome)) return report.add('failed', about, upstream, outcome)
  report.timed(method, then.upstream === null ? null : then.totalMs, tookMs)
  const wanted = { body: answer, refusal: then.refusal === null ? null : { name: then.refusal } }
  const { ignoreFields = [] } = policies.find((each) => each.method === method) ?? {}
  const differences = compare([wanted, { body, refusal }], then.interface, ignoreFields)
  const result = isFixed(call.asked, differences) ? 'differs' : 'mayDiffer'
  report.add(differences.length === 0 ? 'same' : result, about, upstream, differences)
}
