// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import { type Entries, type Located, type LocatedUpstream, locate } from '../entries.ts'
import { nearest, suggestion } from '../nearest.ts'
import { gather, type Locate, type Problem, quote, type Report } from '../problem.ts'
import type { NodeUrlEntry, UpstreamEntry } from '../schema.ts'
import type { ApiInterface } from '../types.ts'
import type { PolicyEntry } from '../cross-validation.ts'
import { type Partly } from '../partly.ts'
import { counted } from '../../words/counted.ts'

/** Facts about a chain's interface that a config can refer to. */
export interface KnownInterface {
  readonly addons: ReadonlySet<string>
  /** Valid names for `skip-verifications`, including verifications that the router never runs. */
  readonly verificationNames: ReadonlySet<string>
}

/** Facts about a chain that a config can refer to. */
export interface KnownChain {
  readonly id: string
  /** Null when only the name of the chain is known. */
  readonly interfaces: ReadonlyMap<ApiInterface, KnownInterface> | null
  /** The file with its spec; absent for a bundled spec. */
  readonly ownFile?: string | null
}

/** The names of a chain. */
interface ChainNames {
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
}

/** Chains to check a config against: a catalog of chain specs, or partial knowledge of one. */
export interface KnownChains {
  readonly ids: readonly string[]
  /** Other names of the chains; absent: unknown. */
  readonly names?: readonly ChainNames[]
  /** Finds a chain by id, alias or name. */
  find(id: string): KnownChain | null
  /** Whether the chain's interface has subscriptions; null or absent when unknown. */
  subscribes?(id: string, apiInterface: ApiInterface): boolean | null
  /** The add-on that an upstream must declare for a method; null or absent if none is known. */
  addonOf?(id: string, apiInterface: ApiInterface, method: string): string | null
}

/** Accepts any chain, for checks without chain specs. */
export const anyChain: KnownChains = { ids: [], find: (id) => ({ id, interfaces: null }) }

/** Reports references to anything that the chain specs do not define. */
export function checkChains(
  entries: Entries,
  known: KnownChains,
  locate: Locate,
): readonly Problem[] {
  const { endpoints, upstreams, policies } = entries
  return gather(locate, (report) => {
    for (const each of [...endpoints, ...policies]) checkEntry(each, [], known, report)
    for (const each of upstreams) checkEntry(each, each.urls, known, report)
    checkPolicies(entries, known, report)
  })
}

function checkEntry(
  { entry, path }: Located<Pick<UpstreamEntry, 'chain-id' | 'api-interface'>>,
  urls: readonly Located<NodeUrlEntry>[],
  known: KnownChains,
  report: Report,
): void {
  const { 'chain-id': chainId, 'api-interface': apiInterface } = entry
  if (chainId === undefined) return
  const chain = known.find(chainId)
  if (chain === null)
    report(`${path}.chain-id`, `No chain spec has the id "${chainId}".`, chainHint(chainId, known))
  const { id = '', interfaces = null } = chain ?? {}
  const note = specNote(chain)
  if (interfaces === null || apiInterface === undefined) return
  const offered = interfaces.get(apiInterface)
  if (offered === undefined) {
    const has = `${id} has: ${[...interfaces.keys()].join(', ')}.${note}`
    report(`${path}.api-interface`, `${id} is not served through ${apiInterface}.`, has)
    return
  }
  const rules = [
    ['addons', 'add-on', [...offered.addons]],
    ['skip-verifications', 'verification', [...offered.verificationNames, '*']],
  ] as const
  for (const url of urls)
    for (const [key, what, has] of rules)
      for (const { path: at, entry: word } of locate<string>(url.entry[key], `${url.path}.${key}`))
        if (!has.includes(word)) {
          const message = `${id} has no ${what} "${word}" on ${apiInterface}.`
          const known = suggestion(word, has, `Its ${what}s`, quote)
          report(at, message, (has.length > 0 ? known : `It has no ${what}s.`) + note)
        }
}

/** A sentence that names the spec file; empty for a bundled spec. */
export function specNote(chain: Pick<KnownChain, 'ownFile'> | null): string {
  return chain?.ownFile ? ` Its spec is ${chain.ownFile}.` : ''
}

function chainHint(chainId: string, known: KnownChains): string {
  const { ids, names = [], find } = known
  if (/^(?:\d+|0x[\da-f]+)$/i.test(chainId) && find(`evm:${Number(chainId)}`))
    return `Did you mean evm:${Number(chainId)}?`
  const meant = chainsMeant(chainId, known)
  if (meant.length > 0) return `Did you mean ${anyOf(meant.slice(0, mostMeant).map(shown))}?`
  const ofWords = new Map(ids.map((id) => [id, id]))
  for (const each of names)
    for (const word of [...each.aliases, each.name]) ofWords.getOrInsert(word, shown(each))
  const near = nearest(chainId, ofWords.keys())
  if (near !== null) return `Did you mean ${ofWords.get(near)}?`
  if (ids.length === 0) return 'The spec sources have no chain at all.'
  const rest = ids.length > 20 ? ` and ${ids.length - 20} more` : ''
  return `Known chains: ${ids.slice(0, 20).join(', ')}${rest}. Any EVM chain is evm: and its chain id, such as evm:8453. Others can be added with \`--use-static-spec\`.`
}

const mostMeant = 6
/** Words that people add to the name of any chain. */
const addedWords = /^(?:mainnet|main|beta|network|chain|blockchain|hub|\d+)$/
const wordsIn = (text: string) => text.toLowerCase().match(/[a-z\d]+/g) ?? []
const shown = ({ id, name }: ChainNames) => (id === name ? id : `${id} (${name})`)

/** Chains with all words of a text, or their beginnings, in one of their names. Ethereum first. */
function chainsMeant(text: string, { names = [], find }: KnownChains): readonly ChainNames[] {
  const words = wordsIn(text)
  const own = words.filter((word) => !addedWords.test(word))
  const chain = find(own.join('-'))
  if (chain) return names.filter(({ id }) => id === chain.id)
  const having = (some: readonly string[]) =>
    names.filter(({ id, aliases, name }) => {
      const all = [id, ...aliases, name].flatMap(wordsIn)
      return some.every((word) => all.some((each) => each.startsWith(word)))
    })
  const found = [words, own].filter((some) => some.join('').length > 1).map(having)
  const isOther = ({ name }: ChainNames) => Number(!name.startsWith('Ethereum'))
  return (found.find(({ length }) => length > 0) ?? []).toSorted(
    // A chain comes before its testnets, whose ids are longer.
    (a, b) => isOther(a) - isOther(b) || a.id.length - b.id.length,
  )
}

function anyOf(words: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(words)
}

/* Checks of cross-validation policies that span several keys. */

/** Keys that select calls or enable the policy, and require nothing of the answers. */
const namingKeys = ['chain-id', 'api-interface', 'method', 'enabled']

/** Reports contradictions within a policy, and policies that have no effect. */
export function checkPolicy(entry: Partly<PolicyEntry>, path: string, report: Report): void {
  const isSaid = ([key, value]: readonly [string, unknown]) =>
    !namingKeys.includes(key) && value !== false && value !== 1 && !isDeepStrictEqual(value, {})
  if (entry.enabled !== false && !Object.entries(entry).some(isSaid)) {
    const hint = 'Set agreement-threshold or forbid-caller-cv, or remove it.'
    report(path, 'the policy has no effect, because it demands nothing', hint, 'warning')
  }
  const floorOf = (key: 'agreement-threshold' | 'max-participants' | 'min-groups') => {
    const { floor = 1, cap = Infinity } = entry[key] ?? {}
    if (floor > cap) report(`${path}.${key}.cap`, `cap ${cap} is below floor ${floor}`)
    return floor
  }
  const agreement = floorOf('agreement-threshold')
  const groups = floorOf('min-groups')
  const quorum = entry['per-group-quorum'] ?? 1
  floorOf('max-participants')
  // The router raises the minimum to the agreement threshold, but never above the cap.
  const { cap = Infinity } = entry['max-participants'] ?? {}
  if (agreement > cap)
    report(
      `${path}.agreement-threshold`,
      `${agreement} answers must match, but max-participants allows at most ${counted(cap, 'upstream')}`,
      'Raise the cap of max-participants, or lower agreement-threshold.',
    )
  if (groups * quorum > cap) {
    const message = `${counted(groups, `group of ${quorum} is`, `groups of ${quorum} are`)} needed, but max-participants allows at most ${counted(cap, 'upstream')}`
    report(path, message, 'Raise max-participants, or lower min-groups or per-group-quorum.')
  }
  if (entry['one-vote-per-group'] === true && quorum > 1)
    report(`${path}.per-group-quorum`, 'with one-vote-per-group a group has no more than 1 answer')
}

/** Reports requirements that the file's upstreams cannot meet, and duplicate policies. */
function checkPolicies(
  { endpoints, upstreams, policies }: Entries,
  known: KnownChains,
  report: Report,
): void {
  type Serving = {
    readonly 'chain-id'?: string | undefined
    readonly 'api-interface'?: string | undefined
  }
  const servesOf = ({ 'chain-id': id = '', 'api-interface': apiInterface }: Serving) =>
    `${known.find(id)?.id ?? id} ${apiInterface}`
  const listened = new Set(endpoints.map((each) => servesOf(each.entry)))
  const serving = Map.groupBy(upstreams, (each) => servesOf(each.entry))
  const seen = new Map<string, string>()
  for (const { entry, path } of policies) {
    const serves = servesOf(entry)
    const first = seen.get(`${serves} ${entry.method}`)
    if (first !== undefined && entry.method !== undefined) {
      report(
        path,
        `there is a policy for ${serves} ${entry.method} already, ${first}`,
        'Keep one of them.',
      )
      continue
    }
    seen.set(`${serves} ${entry.method}`, path)
    if (entry.enabled === false || entry['api-interface'] === undefined) continue
    if (!listened.has(serves)) {
      const message = `no listener of endpoints serves ${serves}, so this policy has no effect`
      report(path, message, null, 'warning')
      continue
    }
    const all = serving.get(serves) ?? []
    if (all.length === 0) continue
    const { 'chain-id': chainId = '', method = '' } = entry
    const addon = known.addonOf?.(chainId, entry['api-interface'], method) ?? null
    const isAble = ({ urls }: LocatedUpstream) =>
      addon === null || urls.some((url) => url.entry.addons?.includes(addon))
    const own = all.filter(isAble)
    const having = addon === null ? '' : ` with the add-on ${quote(addon)} that ${method} needs`
    const sizes = [...Map.groupBy(own, (each) => each.entry['group-label'] ?? '').values()].map(
      ({ length }) => length,
    )
    const isByGroup = entry['one-vote-per-group'] === true
    const voters = isByGroup ? sizes.length : own.length
    const unit = `${isByGroup ? 'group' : 'upstream'}${voters === 1 ? '' : 's'}`
    for (const key of ['agreement-threshold', 'max-participants'] as const) {
      const floor = entry[key]?.floor ?? 0
      const hint = isByGroup ? groupHint : 'Lower it, or add upstreams.'
      if (floor > voters)
        report(
          `${path}.${key}`,
          `the floor is ${floor}, and ${serves} has ${voters} ${unit}${having}`,
          hint,
        )
    }
    const quorum = entry['per-group-quorum'] ?? 1
    // An agreement of one only requires that the method is served, so it needs no group.
    const groups = entry['min-groups']?.floor ?? (quorum > 1 ? 1 : 0)
    const able = sizes.filter((size) => size >= quorum).length
    if (groups > able) {
      const of = quorum > 1 ? ` with ${quorum} upstreams or more` : ''
      const at = entry['min-groups'] ? 'min-groups' : 'per-group-quorum'
      report(
        `${path}.${at}`,
        `${counted(groups, 'group is', 'groups are')} needed, and ${serves} has ${able}${of}${having}`,
        groupHint,
      )
    }
  }
}

const groupHint = `Give upstreams of different vendors different values of ${quote('group-label')}; those without one are one group.`
