// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainUse, PlacedWord } from '../config/chain-use.ts'
import type { Problem } from '../config/problem.ts'
import { nearest } from '../config/nearest.ts'
import type { Chain, ChainCatalog, ChainInterface } from './types.ts'

/** Gives the place of a path such as `endpoints[0].chain-id` in the config file. */
type Locate = (path: string) => { readonly line: number; readonly column: number } | null

/** What a config asks of chains that their specs do not have. */
export function checkAgainstCatalog(
  uses: readonly ChainUse[],
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
  for (const use of uses) {
    const found = findInterface(use, catalog, complain)
    if (found === null) continue
    checkAddons(use.addons, found, complain)
    checkSkipped(use.skippedVerifications, found, complain)
  }
  return problems
}

type Complain = (path: string, message: string, hint: string | null) => void

interface Found {
  readonly chain: Chain
  readonly offered: ChainInterface
}

function findInterface(
  { path, chainId, apiInterface }: ChainUse,
  catalog: ChainCatalog,
  complain: Complain,
): Found | null {
  const chain = catalog.find(chainId)
  if (chain === null) {
    complain(
      `${path}.chain-id`,
      `No chain spec has the id "${chainId}".`,
      chainHint(chainId, catalog),
    )
    return null
  }
  if (apiInterface === null) return null
  const offered = chain.interfaces.get(apiInterface)
  if (offered === undefined) {
    complain(
      `${path}.api-interface`,
      `${chain.id} is not served through ${apiInterface}.`,
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
  addons: readonly PlacedWord[],
  { chain, offered }: Found,
  complain: Complain,
): void {
  for (const { path, word: addon } of addons)
    if (!offered.addons.has(addon))
      complain(
        path,
        `${chain.id} has no add-on "${addon}" on ${offered.apiInterface}.`,
        suggestion(addon, offered.addons, 'add-ons'),
      )
}

function checkSkipped(
  names: readonly PlacedWord[],
  { chain, offered }: Found,
  complain: Complain,
): void {
  const known = new Set(offered.verifications.map((verification) => verification.name))
  for (const { path, word: name } of names)
    if (name !== '*' && !known.has(name))
      complain(
        path,
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
