// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Problem } from '../config/problem.ts'
import type { ApiInterface, RouterConfig, Tier } from '../config/types.ts'
import { nearest } from './nearest.ts'
import type { Chain, ChainCatalog, ChainInterface } from './types.ts'

/** Gives the place of a path such as `endpoints[0].chain-id` in the config file. */
type Locate = (path: string) => { readonly line: number; readonly column: number } | null

/** What a config asks of chains that their specs do not have. */
export function checkAgainstCatalog(
  config: RouterConfig,
  catalog: ChainCatalog,
  locate: Locate,
): readonly Problem[] {
  const problems: Problem[] = []
  const complain: Complain = (path, message, hint) => {
    const place = locate(path)
    problems.push({
      severity: 'error',
      path,
      line: place?.line ?? null,
      column: place?.column ?? null,
      message,
      hint,
    })
  }
  for (const [index, endpoint] of config.endpoints.entries())
    findInterface(endpoint, `endpoints[${index}]`, catalog, complain)

  const counts: Record<Tier, number> = { primary: 0, backup: 0 }
  for (const upstream of config.upstreams) {
    const list = upstream.tier === 'primary' ? 'direct-rpc' : 'backup-direct-rpc'
    const path = `${list}[${counts[upstream.tier]++}]`
    const found = findInterface(upstream, path, catalog, complain)
    if (found === null) continue
    for (const [index, url] of upstream.nodeUrls.entries()) {
      const at = `${path}.node-urls[${index}]`
      checkAddons(url.addons, `${at}.addons`, found, complain)
      checkSkipped(url.skipVerifications, `${at}.skip-verifications`, found, complain)
    }
  }
  return problems
}

type Complain = (path: string, message: string, hint: string | null) => void

interface Found {
  readonly chain: Chain
  readonly offered: ChainInterface
}

function findInterface(
  entry: { readonly chainId: string; readonly apiInterface: ApiInterface },
  path: string,
  catalog: ChainCatalog,
  complain: Complain,
): Found | null {
  const chain = catalog.find(entry.chainId)
  if (chain === null) {
    complain(
      `${path}.chain-id`,
      `No chain spec has the id "${entry.chainId}".`,
      chainHint(entry.chainId, catalog),
    )
    return null
  }
  const offered = chain.interfaces.get(entry.apiInterface)
  if (offered === undefined) {
    complain(
      `${path}.api-interface`,
      `${chain.id} is not served through ${entry.apiInterface}.`,
      `${chain.id} has: ${[...chain.interfaces.keys()].join(', ')}.`,
    )
    return null
  }
  return { chain, offered }
}

function chainHint(chainId: string, catalog: ChainCatalog): string {
  const near = nearest(chainId, catalog.ids)
  if (near !== null) return `Did you mean ${near}?`
  if (catalog.ids.length === 0) return 'The spec sources have no chain at all.'
  const shown = catalog.ids.slice(0, 20)
  const rest = catalog.ids.length - shown.length
  return `Known chains: ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}. Others can be added with \`--use-static-spec\`.`
}

function checkAddons(
  addons: readonly string[],
  path: string,
  { chain, offered }: Found,
  complain: Complain,
): void {
  for (const [index, addon] of addons.entries())
    if (!offered.addons.has(addon))
      complain(
        `${path}[${index}]`,
        `${chain.id} has no add-on "${addon}" on ${offered.apiInterface}.`,
        suggestion(addon, offered.addons, 'add-ons'),
      )
}

function checkSkipped(
  names: readonly string[],
  path: string,
  { chain, offered }: Found,
  complain: Complain,
): void {
  const known = new Set(offered.verifications.map((verification) => verification.name))
  for (const [index, name] of names.entries())
    if (name !== '*' && !known.has(name))
      complain(
        `${path}[${index}]`,
        `${chain.id} has no verification "${name}" on ${offered.apiInterface}.`,
        suggestion(name, [...known, '*'], 'verifications'),
      )
}

function suggestion(word: string, known: Iterable<string>, what: string): string {
  const all = [...known]
  if (all.length === 0) return `It has no ${what}.`
  const near = nearest(word, all)
  const list = `Its ${what}: ${all.join(', ')}.`
  return near === null ? list : `Did you mean "${near}"? ${list}`
}
