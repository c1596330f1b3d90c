// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../bytes/byte-budget.ts'
import { systemClock } from '../clock/clock.ts'
import { aligned, clean } from '../telemetry/format.ts'
import { tipOf, whyOutdated } from '../tracker/tip.ts'
import { examine, type Examined } from './doctor/examine.ts'
import {
  type ConfigRequest,
  exitCodes,
  checkConfig,
  problemLine,
} from '../router/checked-config.ts'
import type { CommandIo } from './validate.ts'
import { counted } from '../words/counted.ts'

/** Budget for answers, each of which has at most 1 MiB. */
const maxBytes = 32 * 1024 * 1024

/**
 * Verifies each URL of a config as the router does, probes it further, and prints a table, with the
 * necessary config changes below each URL.
 * @returns the exit code: 0; 1 if something must change; 2 for an unusable config
 */
export async function runDoctor(
  request: Omit<ConfigRequest, 'environment'> & { readonly version: string },
  io: CommandIo,
): Promise<number> {
  const { configPath, version } = request
  const input = { ...request, environment: io.environment }
  const { config, catalog, problems, parsed, redact } = await checkConfig(input)
  for (const problem of problems) io.stderr.write(`${redact(problemLine(configPath, problem))}\n`)
  if (config === null || catalog === null) return exitCodes.invalid
  const context = { version, catalog, clock: systemClock, budget: new ByteBudget(maxBytes) }
  const asking = config.upstreams.flatMap((upstream) => {
    const chain = catalog.find(upstream.chainId)
    const iface = chain?.interfaces.get(upstream.apiInterface)
    // The config was already checked against the catalog.
    if (!chain || !iface) throw new Error(`no spec for ${upstream.chainId}`)
    return upstream.nodeUrls.map((url) => examine({ upstream, config: url, chain, iface }, context))
  })
  const examined = await Promise.all(asking)
  compareHeads(examined)
  const titles = Object.keys(examined[0]?.cells ?? {})
  const rows = examined.map(({ changes, cells }) => [
    changes.length > 0 ? 'CHANGE' : 'ok    ',
    ...Object.values(cells),
  ])
  const [head = '', ...table] = aligned([['', ...titles], ...rows])
  const places = parsed.entries.upstreams.flatMap(({ urls }) =>
    urls.map(({ path }) => {
      const at = request.flagOf
        ? request.flagOf(path)
        : `${configPath}:${parsed.locate(path)?.line ?? 1}`
      return `        ${at}`
    }),
  )
  const lines = examined.flatMap(({ changes, notes }, at) => [
    table[at] ?? '',
    ...changes.map((words) => `${places[at]}: change: ${words}`),
    ...notes.map((words) => `${places[at]}: note: ${words}`),
  ])
  const wrong = examined.filter(({ changes }) => changes.length > 0).length
  const count = counted(rows.length, 'URL')
  const text = [head, ...lines, '', `${count} asked, ${wrong || 'none'} to change.`]
  io.stdout.write(redact(`${text.map(clean).join('\n')}\n`))
  return wrong > 0 ? exitCodes.failed : exitCodes.done
}

/** Compares the URLs of a chain: which are stale, and how far each is behind the tip. */
function compareHeads(all: readonly Examined[]): void {
  for (const { chain, iface, url, owner, cells, changes } of all) {
    const own = url.head
    if (own === null) continue
    const reported = all.flatMap(({ iface: other, url: { head }, owner: { status } }) => {
      if (other !== iface || head === null) return []
      // Accounts for the chain's growth between two probes.
      const grown = Math.round((head.atMs - own.atMs) / chain.blockTimeMs)
      const [block, atMs] = [head.block - grown, own.atMs]
      return [{ head: { block, atMs, roseMs: atMs }, status }]
    })
    const lag = Math.max(0, (tipOf(reported, chain) ?? 0) - own.block)
    if (lag > 0) cells.HEIGHT += ` (-${lag})`
    const head = { ...own, roseMs: own.atMs }
    const outdated = whyOutdated({ head, status: owner.status }, reported, chain)
    const blocks = lag > chain.allowedLagBlocks ? `behind by ${counted(lag, 'block')}` : null
    const why = [outdated, blocks].filter((each) => each !== null).join(', ')
    if (why)
      changes.push(`${why}: wait until it is in sync; other upstreams serve the latest blocks`)
  }
}
