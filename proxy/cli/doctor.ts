// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../chain/types.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import type { ParsedConfig } from '../config/parse.ts'
import type { RouterConfig } from '../config/types.ts'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { dialects } from '../upstream/dialect.ts'
import { Cooldown } from '../upstream/health.ts'
import { NodeUrl } from '../upstream/upstream.ts'
import type { OutputFormat } from './command-line.ts'
import { diagnose, type Diagnosis, type Subject } from './doctor/advice.ts'
import { examine } from './doctor/examine.ts'
import { isRight, reportJson, type ReportRow, reportText } from './doctor/report.ts'
import {
  type CheckReferences,
  type ConfigRequest,
  exitCodes,
  judgeConfig,
  problemLine,
} from './judged-config.ts'
import { transportsOf } from './served-chain.ts'
import type { CommandIo } from './validate.ts'

/** What `router doctor` was asked. */
export interface DoctorArguments extends Omit<ConfigRequest, 'environment'> {
  readonly output: OutputFormat
  readonly version: string
}

/** So many URLs are asked at the same time. */
const maxAtOnce = 16
/** No answer to a question of the router's own is longer, and few are as long. */
const maxBytes = maxAtOnce * 2 * 1024 * 1024

/**
 * Asks each URL of a config what the router would ask of it, and prints what to change in the config.
 * @returns the exit code: 0; 1 where something must change; 2 for a config that cannot be used
 */
export async function runDoctor(
  request: DoctorArguments,
  io: CommandIo,
  checkReferences: CheckReferences,
): Promise<number> {
  const { configPath, output } = request
  const asked = { ...request, environment: io.environment }
  const { config, catalog, problems, parsed, redact } = await judgeConfig(asked, checkReferences)
  for (const problem of problems) io.stderr.write(`${redact(problemLine(configPath, problem))}\n`)
  if (config === null || catalog === null) return exitCodes.invalid
  // The clock's timers hold no process.
  const alive = setInterval(() => {}, 60_000)
  try {
    const rows = await examineAll(config, catalog, { ...request, parsed, clock: systemClock })
    const text = output === 'json' ? reportJson(configPath, rows) : reportText(rows)
    io.stdout.write(redact(text))
    return rows.every(isRight) ? exitCodes.done : exitCodes.failed
  } finally {
    clearInterval(alive)
  }
}

interface ExamineAllOptions extends DoctorArguments {
  readonly parsed: ParsedConfig
  readonly clock: Clock
}

async function examineAll(
  { upstreams }: RouterConfig,
  catalog: ChainCatalog,
  { parsed, clock, version, configPath }: ExamineAllOptions,
): Promise<readonly ReportRow[]> {
  const budget = new ByteBudget(maxBytes)
  const placed = upstreams.flatMap((upstream, at) =>
    upstream.nodeUrls.map((config, index) => {
      const path = parsed.entries.upstreams[at]?.urls[index]?.path ?? ''
      const place = `${configPath}:${parsed.locate(path)?.line ?? 1}`
      const isSocket = config.scheme.startsWith('ws')
      const isAlone = upstream.nodeUrls.every(({ scheme }) => scheme.startsWith('ws'))
      return { upstream, config, place, isSocket, isForSubscriptions: isSocket && !isAlone }
    }),
  )
  const examined = await eachAtOnce(
    placed,
    async ({ upstream, config, isSocket, place, ...rest }) => {
      const { chainId, apiInterface, name } = upstream
      const chain = catalog.find(chainId)
      const iface = chain?.interfaces.get(apiInterface)
      // The config was checked against the catalog.
      if (!chain || !iface) throw new Error(`no spec for ${chainId} through ${apiInterface}`)
      const transports = transportsOf(apiInterface, { clock, budget, version })
      const cooldown = new Cooldown(clock, null)
      const transport = isSocket
        ? transports.createSocketTransport(config)
        : transports.createTransport(config)
      const url = new NodeUrl(config, transport, cooldown)
      const dialect = dialects[apiInterface]
      const facts = await examine(url, { chain, iface, dialect, clock, isSocket })
      await transport.close()
      const { printable, declaredAddons } = url
      const subject: Subject = { ...rest, declaredAddons, facts }
      const row = { upstream: name, url: printable, place, group: `${chain.id} ${apiInterface}` }
      return { subject, row, measure: { chain, iface, catalog } }
    },
  )
  return [...Map.groupBy(examined, ({ row }) => row.group).values()].flatMap((group) => {
    const diagnoses = diagnose(
      (group[0] as (typeof examined)[number]).measure,
      group.map(({ subject }) => subject),
    )
    return group.map(({ subject: { facts }, row }, at) => {
      return { ...row, facts, ...(diagnoses[at] as Diagnosis) }
    })
  })
}

/** Runs work for each, so many at a time. @returns the results, in order */
async function eachAtOnce<T, R>(all: readonly T[], run: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = all.entries()
  const take = async () => {
    for (const [at, each] of left) results[at] = await run(each)
  }
  await Promise.all(Array.from({ length: maxAtOnce }, take))
  return results
}
