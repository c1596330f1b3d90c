// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../chain/types.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import type { NodeUrlConfig, UpstreamConfig } from '../config/types.ts'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { dialects } from '../upstream/dialect.ts'
import { Cooldown } from '../upstream/health.ts'
import { NodeUrl } from '../upstream/upstream.ts'
import type { OutputFormat } from './command-line.ts'
import { diagnose } from './doctor/advice.ts'
import { examine } from './doctor/examine.ts'
import { reportRow, reportText } from './doctor/report.ts'
import { type CheckReferences, type ConfigRequest, judgeConfig } from './judged-config.ts'
import { exitCodes, problemLine } from './judged-config.ts'
import { transportsOf } from './served-chain.ts'
import type { CommandIo } from './validate.ts'

/** What `router doctor` was asked. */
export interface DoctorArguments extends Omit<ConfigRequest, 'environment'> {
  readonly output: OutputFormat
  readonly version: string
}

/** So many URLs are asked at the same time. */
const maxAtOnce = 16
/** Of answers, which are at most 1 MiB each. */
const maxBytes = 32 * 1024 * 1024

/**
 * Asks each URL of a config what the router would ask of it, and prints what to change in the config.
 * @returns the exit code: 0; 1 where something must change; 2 for a config that cannot be used
 */
export async function runDoctor(
  request: DoctorArguments,
  io: CommandIo,
  checkReferences: CheckReferences,
): Promise<number> {
  const { configPath, output, version } = request
  const asked = { ...request, environment: io.environment }
  const { config, catalog, problems, parsed, redact } = await judgeConfig(asked, checkReferences)
  for (const problem of problems) io.stderr.write(`${redact(problemLine(configPath, problem))}\n`)
  if (config === null || catalog === null) return exitCodes.invalid
  const placed = config.upstreams.flatMap((upstream, at) =>
    upstream.nodeUrls.map((url, index) => {
      const path = parsed.entries.upstreams[at]?.urls[index]?.path ?? ''
      return { upstream, url, place: `${configPath}:${parsed.locate(path)?.line ?? 1}` }
    }),
  )
  const parts = { catalog, version, clock: systemClock, budget: new ByteBudget(maxBytes) }
  const examined = await eachAtOnce(placed, async ({ upstream, url, place }) => {
    return { place, ...(await examineUrl(upstream, url, parts)) }
  })
  const groups = Map.groupBy(examined, ({ chain, iface }) => `${chain.id} ${iface.apiInterface}`)
  const urls = [...groups.values()].flatMap((each) => diagnose(each)).map(reportRow)
  const ok = urls.every((each) => each.ok)
  const json = () => `${JSON.stringify({ version: 1, file: configPath, ok, urls }, null, 2)}\n`
  io.stdout.write(redact(output === 'json' ? json() : reportText(urls)))
  return ok ? exitCodes.done : exitCodes.failed
}

interface DoctorParts {
  readonly catalog: ChainCatalog
  readonly version: string
  readonly clock: Clock
  readonly budget: ByteBudget
}

async function examineUrl(
  { chainId, apiInterface, name, nodeUrls }: UpstreamConfig,
  config: NodeUrlConfig,
  parts: DoctorParts,
) {
  const { catalog, clock } = parts
  const chain = catalog.find(chainId)
  const iface = chain?.interfaces.get(apiInterface)
  // The config was checked against the catalog.
  if (!chain || !iface) throw new Error(`no spec for ${chainId} through ${apiInterface}`)
  const isOfSocket = ({ scheme }: NodeUrlConfig) => scheme.startsWith('ws')
  const isSocket = isOfSocket(config)
  const { createTransport, createSocketTransport } = transportsOf(apiInterface, parts)
  const transport = (isSocket ? createSocketTransport : createTransport)(config)
  const url = new NodeUrl(config, transport, new Cooldown(clock, null))
  const dialect = dialects[apiInterface]
  const isForSubscriptions = isSocket && !nodeUrls.every(isOfSocket)
  const { printable, declaredAddons } = url
  const named = { upstream: name, url: printable }
  try {
    const facts = await examine(url, { chain, iface, dialect, clock, isSocket })
    return { ...named, chain, iface, catalog, declaredAddons, isForSubscriptions, facts }
  } finally {
    await transport.close()
  }
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
