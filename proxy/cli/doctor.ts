// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../bytes/byte-budget.ts'
import { systemClock } from '../clock/clock.ts'
import { aligned, time } from '../telemetry/format.ts'
import { diagnose, type Row } from './doctor/advice.ts'
import { examine, type Examined } from './doctor/examine.ts'
import { type CheckReferences, exitCodes, judgeConfig, problemLine } from './judged-config.ts'
import type { CommandIo, ValidateArguments } from './validate.ts'

/** What `router doctor` was asked. */
export interface DoctorArguments extends ValidateArguments {
  readonly version: string
}

/** So many URLs are asked at the same time. */
const maxAtOnce = 16
/** Of answers, which are at most 1 MiB each. */
const maxBytes = 32 * 1024 * 1024

/**
 * Verifies each URL of a config as the router does, asks it a little more, and prints what to change in the config.
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
  const subjects = config.upstreams.flatMap((upstream, at) => {
    const { chainId, apiInterface, nodeUrls } = upstream
    const chain = catalog.find(chainId)
    const iface = chain?.interfaces.get(apiInterface)
    // The config was checked against the catalog.
    if (!chain || !iface) throw new Error(`no spec for ${chainId} through ${apiInterface}`)
    return nodeUrls.map((url, index) => {
      const path = parsed.entries.upstreams[at]?.urls[index]?.path ?? ''
      const place = `${configPath}:${parsed.locate(path)?.line ?? 1}`
      return { place, upstream, config: url, chain, iface }
    })
  })
  const parts = { version, clock: systemClock, budget: new ByteBudget(maxBytes) }
  const examined: Examined[] = []
  const left = subjects.entries()
  const take = async () => {
    for (const [at, each] of left) examined[at] = { ...each, ...(await examine(each, parts)) }
  }
  await Promise.all(Array.from({ length: maxAtOnce }, take))
  const groups = Map.groupBy(examined, ({ chain, iface }) => `${chain.id} ${iface.apiInterface}`)
  const urls = [...groups.values()].flatMap((each) => diagnose(each, catalog))
  const ok = urls.every((each) => each.ok)
  const json = () => `${JSON.stringify({ version: 1, file: configPath, ok, urls }, null, 2)}\n`
  io.stdout.write(redact(output === 'json' ? json() : reportText(urls)))
  return ok ? exitCodes.done : exitCodes.failed
}

/** The report for a person: a table for each chain and interface, and under each URL what to do about it. */
function reportText(rows: readonly Row[]): string {
  const lines: string[] = []
  for (const [group, own] of Map.groupBy(rows, (row) => `${row.chain} ${row.interface}`)) {
    const cells = own.map(cellsOf)
    const [head = '', ...table] = aligned([
      Object.keys(cells[0] ?? {}),
      ...cells.map(Object.values),
    ])
    lines.push(group, head)
    for (const [at, { place, advice }] of own.entries()) {
      const under = advice.map((each) => `        ${place}: ${each.severity}: ${each.message}`)
      lines.push(table[at] ?? '', ...under)
    }
    lines.push('')
  }
  const wrong = rows.filter(({ ok }) => !ok).length
  const asked = `${rows.length} ${rows.length === 1 ? 'URL' : 'URLs'} asked`
  return `${[...lines, `${asked}, ${wrong || 'none'} to change.`].join('\n')}\n`
}

/** One line of the table, by its titles. */
function cellsOf({ archive, subscribes, latencyMs, ...row }: Row): Record<string, string> {
  const depth = archive === 0 ? 'none' : `last ${archive}+`
  return {
    '': row.ok ? 'ok    ' : 'CHANGE',
    UPSTREAM: row.upstream,
    URL: row.url,
    CHAIN: (row.chainSaid ?? '-').replaceAll(/[^\x20-\x7e]/g, '?'),
    HEIGHT: `${row.height ?? '-'}${row.behindBlocks ? ` (-${row.behindBlocks})` : ''}`,
    LATENCY: time(latencyMs && latencyMs / 1_000),
    ARCHIVE: typeof archive === 'number' ? depth : (archive ?? '-'),
    SUBSCRIBE: subscribes !== null && subscribes !== 'yes' ? 'no' : (subscribes ?? '-'),
    'ADD-ONS': row.servedAddons.join(', ') || '-',
  }
}
