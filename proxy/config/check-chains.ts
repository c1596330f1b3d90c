// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nearest } from './nearest.ts'
import { gather, type Locate, type Problem, type Report } from './problem.ts'
import type { ApiInterface } from './types.ts'

/** A word of the file and where it stands. */
export interface PlacedWord {
  readonly path: string
  readonly word: string
}

/**
 * What an entry of the file wants of a chain's spec, also when something else in the file is wrong:
 * so that a file is judged by its specs along with everything else.
 */
export interface ChainUse {
  /** `endpoints[0]`, `direct-rpc[2]`, ... */
  readonly path: string
  readonly chainId: string
  /** Null when it is none that the router knows, which is reported elsewhere. */
  readonly apiInterface: ApiInterface | null
  readonly addons: readonly PlacedWord[]
  readonly skippedVerifications: readonly PlacedWord[]
}

/** What a config can ask of a chain's interface. */
export interface KnownInterface {
  readonly apiInterface: ApiInterface
  readonly addons: ReadonlySet<string>
  /** What `skip-verifications` may name: also what the router never asks, and so skips anyway. */
  readonly verificationNames: ReadonlySet<string>
  /** Whether clients can subscribe; undefined where that is not known. */
  readonly subscribes?: boolean
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

/** What a config asks of chains that their specs do not have. */
export function checkChains(
  uses: readonly ChainUse[],
  known: KnownChains,
  locate: Locate,
): readonly Problem[] {
  return gather(locate, (report) => {
    for (const use of uses) checkChain(use, known, report)
  })
}

function checkChain(
  { path, chainId, apiInterface, addons, skippedVerifications }: ChainUse,
  known: KnownChains,
  report: Report,
): void {
  const chain = known.find(chainId)
  if (chain === null)
    report(`${path}.chain-id`, `No chain spec has the id "${chainId}".`, chainHint(chainId, known))
  if (chain === null || apiInterface === null) return
  const { id, interfaces } = chain
  const offered = interfaces.get(apiInterface)
  if (offered === undefined) {
    const has = `${id} has: ${[...interfaces.keys()].join(', ')}.`
    report(`${path}.api-interface`, `${id} is not served through ${apiInterface}.`, has)
    return
  }
  const checkWords = (words: readonly PlacedWord[], has: readonly string[], what: string) => {
    for (const { path: at, word } of words)
      if (!has.includes(word)) {
        const message = `${id} has no ${what} "${word}" on ${apiInterface}.`
        report(at, message, suggestion(word, has, `${what}s`))
      }
  }
  checkWords(addons, [...offered.addons], 'add-on')
  checkWords(skippedVerifications, [...offered.verificationNames, '*'], 'verification')
}

function chainHint(chainId: string, { ids }: KnownChains): string {
  const near = nearest(chainId, ids)
  if (near !== null) return `Did you mean ${near}?`
  if (ids.length === 0) return 'The spec sources have no chain at all.'
  const rest = ids.length > 20 ? ` and ${ids.length - 20} more` : ''
  return `Known chains: ${ids.slice(0, 20).join(', ')}${rest}. Others can be added with \`--use-static-spec\`.`
}

function suggestion(word: string, known: readonly string[], what: string): string {
  if (known.length === 0) return `It has no ${what}.`
  const near = nearest(word, known)
  const list = `Its ${what}: ${known.join(', ')}.`
  return near === null ? list : `Did you mean "${near}"? ${list}`
}
