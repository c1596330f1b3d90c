// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainUse, PlacedWord } from './chain-use.ts'
import { nearest } from './nearest.ts'
import type { Problem } from './problem.ts'
import type { ApiInterface } from './types.ts'

/** What a config can ask of a chain's interface. */
export interface KnownInterface {
  readonly apiInterface: ApiInterface
  readonly addons: ReadonlySet<string>
  /** What `skip-verifications` may name: also what the router never asks, and so skips anyway. */
  readonly verificationNames: ReadonlySet<string>
}

/** A chain, as far as a config can ask for it. */
export interface KnownChain {
  readonly id: string
  readonly interfaces: ReadonlyMap<ApiInterface, KnownInterface>
}

/** The chains that a config is checked against: a catalog of chain specs, or what is known of one. */
export interface KnownChains {
  readonly ids: readonly string[]
  /** By id or alias. */
  find(id: string): KnownChain | null
}

/** Gives the place of a path such as `endpoints[0].chain-id` in the config file. */
type Locate = (path: string) => { readonly line: number; readonly column: number } | null

/** What a config asks of chains that their specs do not have. */
export function checkChains(
  uses: readonly ChainUse[],
  known: KnownChains,
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
    const found = findInterface(use, known, complain)
    if (found === null) continue
    checkAddons(use.addons, found, complain)
    checkSkipped(use.skippedVerifications, found, complain)
  }
  return problems
}

type Complain = (path: string, message: string, hint: string | null) => void

interface Found {
  readonly chain: KnownChain
  readonly offered: KnownInterface
}

function findInterface(
  { path, chainId, apiInterface }: ChainUse,
  known: KnownChains,
  complain: Complain,
): Found | null {
  const chain = known.find(chainId)
  if (chain === null) {
    complain(
      `${path}.chain-id`,
      `No chain spec has the id "${chainId}".`,
      chainHint(chainId, known),
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

function chainHint(chainId: string, known: KnownChains): string {
  const near = nearest(chainId, known.ids)
  if (near !== null) return `Did you mean ${near}?`
  if (known.ids.length === 0) return 'The spec sources have no chain at all.'
  const shown = known.ids.slice(0, 20)
  const rest = known.ids.length - shown.length
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
  const known = offered.verificationNames
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
