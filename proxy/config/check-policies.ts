// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { PolicyEntry } from './cross-validation.ts'
import type { Entries, Partly } from './entries.ts'
import { quote, type Report } from './problem.ts'

/* What is wrong with policies of cross-validation though each of their keys is right by itself. */

/** What of a policy contradicts itself. */
export function checkPolicy(entry: Partly<PolicyEntry>, path: string, report: Report): void {
  const floorOf = (key: 'agreement-threshold' | 'max-participants' | 'min-groups') => {
    const { floor = 1, cap = Infinity } = entry[key] ?? {}
    if (floor > cap) report(`${path}.${key}.cap`, `cap ${cap} is below floor ${floor}`)
    return floor
  }
  const agreement = floorOf('agreement-threshold')
  const groups = floorOf('min-groups')
  const quorum = entry['per-group-quorum'] ?? 1
  floorOf('max-participants')
  const { floor = Infinity, cap = Infinity } = entry['max-participants'] ?? {}
  const most = Math.min(floor, cap)
  if (agreement > most)
    report(
      `${path}.agreement-threshold`,
      `${agreement} answers must match, and max-participants has no more than ${most} upstreams asked`,
    )
  if (groups * quorum > cap) {
    const message = `${groups} groups of ${quorum} are needed, and max-participants has no more than ${cap} upstreams asked`
    report(path, message, 'Raise max-participants, or lower min-groups or per-group-quorum.')
  }
  if (entry['one-vote-per-group'] === true && quorum > 1)
    report(`${path}.per-group-quorum`, 'with one-vote-per-group a group has no more than 1 answer')
}

/**
 * What a policy demands that the upstreams of the file cannot give; and a policy that is there twice.
 *
 * @param idOf the id of a chain by its id or an alias
 */
export function checkPolicies(
  { endpoints, upstreams, policies }: Entries,
  idOf: (chainId: string) => string,
  report: Report,
): void {
  type Serving = {
    readonly 'chain-id'?: string | undefined
    readonly 'api-interface'?: string | undefined
  }
  const servesOf = ({ 'chain-id': id, 'api-interface': apiInterface }: Serving) =>
    `${id === undefined ? '' : idOf(id)} ${apiInterface}`
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
    if (!endpoints.some((each) => servesOf(each.entry) === serves)) {
      const message = `no listener of endpoints serves ${serves}, so this policy has no effect`
      report(path, message, null, 'warning')
      continue
    }
    const own = upstreams.filter((each) => servesOf(each.entry) === serves)
    if (own.length === 0) continue
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
        report(`${path}.${key}`, `the floor is ${floor}, and ${serves} has ${voters} ${unit}`, hint)
    }
    const quorum = entry['per-group-quorum'] ?? 1
    const groups = entry['min-groups']?.floor ?? 1
    const able = sizes.filter((size) => size >= quorum).length
    if (groups > able) {
      const of = quorum > 1 ? ` with ${quorum} upstreams or more` : ''
      const at = entry['min-groups'] ? 'min-groups' : 'per-group-quorum'
      report(
        `${path}.${at}`,
        `${groups} groups are needed, and ${serves} has ${able}${of}`,
        groupHint,
      )
    }
  }
}

const groupHint = `Give upstreams of different vendors different values of ${quote('group-label')}; those without one are one group.`
