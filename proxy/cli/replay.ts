// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../bytes/byte-budget.ts'
import { nodeLimits } from '../bytes/limits.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { sleep, systemClock as clock } from '../clock/clock.ts'
import { systemRandom } from '../clock/random.ts'
import { type Problem, problemAt } from '../config/problem.ts'
import type { RouterConfig } from '../config/types.ts'
import { brokenOff } from '../listener/calls.ts'
import { Sessions } from '../sticky/sessions.ts'
import { isFailure, outcomeOf } from '../telemetry/call-counters.ts'
import { combineObservers } from '../telemetry/observers.ts'
import { type RecordedCall, whyNot } from '../telemetry/record/recording.ts'
import { wholeBody } from '../upstream/wire.ts'
import type { CommandLine } from './command-line.ts'
import { type CheckReferences, exitCodes, judgeConfig, problemLine } from './judged-config.ts'
import { compare, isFixed } from './replay/compare.ts'
import { BadRecording, bytesOf, readRecording } from './replay/read-recording.ts'
import { callOf } from './replay/recorded-call.ts'
import { Report } from './replay/report.ts'
import { type ServedChain, serveChains } from './served-chain.ts'
import type { CommandIo } from './validate.ts'

const maxInFlight = 16
const defaultRate = 20
/** An upstream that hangs keeps the others waiting no longer. */
const maxVerificationMs = 10_000

/**
 * Sends the calls of a recording again, by the upstreams, budgets and checks of a config, and reports what is answered
 * otherwise. Listeners, cache and store of the config have no part in it.
 * @returns the exit code: 0; 1 where an answer differs that must not, or a call failed; 2 for what cannot be replayed
 */
export async function runReplay(
  {
    positionals,
    flags,
    output,
    own,
  }: Pick<CommandLine, 'positionals' | 'flags' | 'output' | 'own'>,
  version: string,
  io: CommandIo,
  checkReferences: CheckReferences,
): Promise<number> {
  const refuse = (file: string, problem: Problem) => {
    io.stderr.write(`${problemLine(file, problem)}\n`)
    return exitCodes.invalid
  }
  const [path] = positionals
  const { against: [configPath] = [] } = own
  const [limit, rate] = [own.limit, own.rate].map((given) => given && Number(given[0]))
  if (path === undefined || configPath === undefined) {
    const hint = 'Write router replay <recording> --against <config.yml>.'
    return refuse('router', problemAt('', null, 'a file is missing', hint))
  }
  const asked = { configPath, flags, environment: io.environment }
  const { config, catalog, problems, redact } = await judgeConfig(asked, checkReferences)
  for (const problem of problems) io.stderr.write(`${redact(problemLine(configPath, problem))}\n`)
  if (config === null || catalog === null) return exitCodes.invalid
  const parts = { catalog, clock, version, random: systemRandom, isDraining: () => false }
  const chains = serveChains(config, {
    ...{ ...parts, cache: null, observers: combineObservers([]), budget: new ByteBudget(Infinity) },
    sessions: new Sessions({ clock, keys: null, lifetimeMs: 0, count: () => {} }),
  })
  try {
    for (const { watch } of chains) watch.start(() => {})
    const verified = Promise.all(chains.map(({ watch }) => watch.firstRound))
    await Promise.race([verified, sleep(clock, maxVerificationMs)])
    const report = new Report()
    const ask = (line: number, recorded: RecordedCall) =>
      askAgain(line, recorded, { config, catalog, chains, report })
    await eachAtRate(readRecording(path), ask, limit, rate)
    io.stdout.write(redact(output === 'json' ? `${JSON.stringify(report)}\n` : report.toText()))
    const { same, mayDiffer, differs, failed } = report.calls
    if (same + mayDiffer + differs + failed === 0)
      return refuse(path, problemAt('', null, 'none of its calls can be sent again'))
    return differs + failed === 0 ? exitCodes.done : exitCodes.failed
  } catch (error) {
    if (!(error instanceof BadRecording)) throw error
    const position = error.line === null ? null : { line: error.line, column: 1 }
    return refuse(path, problemAt('', position, error.message))
  } finally {
    for (const { watch, subscriptions, pool } of chains) {
      watch.stop()
      subscriptions?.close()
      await pool.close()
    }
  }
}

/**
 * @param ask asks again; null: the call is not for that
 * @param rate calls a second
 */
async function eachAtRate(
  calls: AsyncIterable<readonly [number, RecordedCall]>,
  ask: (line: number, recorded: RecordedCall) => Promise<void> | null,
  limit = Infinity,
  rate = defaultRate,
): Promise<void> {
  const inFlight = new Set<Promise<void>>()
  const beganMs = clock.nowMs()
  let sent = 0
  for await (const [line, recorded] of calls) {
    if (sent === limit) break
    await sleep(clock, Math.max(0, beganMs + (sent * 1_000) / rate - clock.nowMs()))
    while (inFlight.size >= maxInFlight) await Promise.race(inFlight)
    const asking = ask(line, recorded)
    if (asking === null) continue
    sent += 1
    inFlight.add(asking)
    void asking.then(() => inFlight.delete(asking))
  }
  await Promise.all(inFlight)
}

interface Against {
  readonly config: RouterConfig
  readonly catalog: ChainCatalog
  readonly chains: readonly ServedChain[]
  readonly report: Report
}

/** @returns settles when it is reported, whatever came of it; null where it is left out @throws BadRecording */
function askAgain(line: number, recorded: RecordedCall, against: Against): Promise<void> | null {
  const { catalog, chains, config, report } = against
  const { interface: apiInterface, outcome, refusal, request, upstream, totalMs } = recorded
  const leaveOut = (why: string) => {
    report.add(line, 'leftOut', recorded.method, null, why)
    return null
  }
  const chain = catalog.find(recorded.chain)
  const isOwn = (each: { readonly chainId: string; readonly apiInterface: string }) =>
    catalog.find(each.chainId) === chain && each.apiInterface === apiInterface
  const relay = chains.find(isOwn)?.endpoints[0]?.relay
  const iface = chain?.interfaces.get(apiInterface)
  if (!relay || !iface) return leaveOut(`${recorded.chain} ${apiInterface}: not in the config`)
  if (recorded.leftOut !== null) return leaveOut(recorded.leftOut)
  if (isFailure(outcome)) return leaveOut(`had no answer: ${outcome}`)
  const answer = recorded.answer && bytesOf(recorded.answer)
  const body = request?.body ? bytesOf(request.body) : null
  if (!answer || !request || (request.body && !body))
    return leaveOut('recorded in part: without params, over 1 MiB, or a stream')
  const call = callOf({ ...request, body }, iface, clock, line)
  const { asked } = call
  const { method } = asked
  const why = whyNot(asked)
  if (why !== null) return leaveOut(why)
  const then = { body: answer, refusal: refusal === null ? null : { name: refusal } }
  const policy = config.policies.find((each) => isOwn(each) && each.method === method)
  const ask = async () => {
    const reply = await relay(call)
    const whole = await wholeBody(reply.incoming.body, nodeLimits.wholeBytes)
    const nowMs = clock.nowMs() - call.journal.startedMs
    const outcomeNow = outcomeOf(call, { kind: 'reply', reply })
    if (whole === null || isFailure(outcomeNow))
      return report.add(line, 'failed', method, reply.upstream, outcomeNow)
    report.timed(method, upstream === null ? null : totalMs, nowMs)
    const now = { body: whole, refusal: reply.refusal }
    const differences = compare([then, now], apiInterface, policy?.ignoreFields ?? [])
    const result = isFixed(asked, differences) ? 'differs' : 'mayDiffer'
    report.add(
      line,
      differences.length === 0 ? 'same' : result,
      method,
      reply.upstream,
      differences,
    )
  }
  return ask().catch((error: unknown) =>
    report.add(line, 'failed', method, null, brokenOff(error).kind.reason),
  )
}
