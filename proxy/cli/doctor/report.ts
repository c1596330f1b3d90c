// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { aligned, time } from '../../console/format.ts'
import type { Diagnosis, Subject } from './advice.ts'

/** One URL, as the document for programs has it. Null: not known. */
export type ReportRow = ReturnType<typeof reportRow>

/** @param place `config.yml:12` */
export function reportRow(subject: Subject & Diagnosis & { readonly place: string }) {
  const { chain, iface, upstream, url, place, facts, behindBlocks, servedAddons, advice } = subject
  const { head, latencyMs, checks, depth, subscribes } = facts
  const identity = checks.find(({ verification }) => verification.name === 'chain-id')
  const said =
    typeof identity?.value === 'string' ? identity.value : JSON.stringify(identity?.value)
  return {
    // Nothing about it must change.
    ok: advice.every(({ severity }) => severity !== 'change'),
    ...{ chain: chain.id, interface: iface.apiInterface, upstream, url, place },
    chainSaid: identity?.why === null ? 'ok' : (said?.slice(0, 12) ?? null),
    ...{ height: head?.block ?? null, behindBlocks, latencyMs, archive: depth, subscribes },
    ...{ servedAddons, advice },
  }
}

const columns = 'UPSTREAM,URL,CHAIN,HEIGHT,LATENCY,ARCHIVE,SUBSCRIBE,ADD-ONS'.split(',')

/** The report for a person: a table for each chain and interface, and under each URL what to do about it. */
export function reportText(rows: readonly ReportRow[]): string {
  const lines: string[] = []
  for (const [group, own] of Map.groupBy(rows, (row) => `${row.chain} ${row.interface}`)) {
    const marked = own.map((row) => [row.ok ? 'ok    ' : 'CHANGE', ...cellsOf(row)])
    const [head = '', ...table] = aligned([['', ...columns], ...marked])
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

function cellsOf(row: ReportRow): string[] {
  const { upstream, url, chainSaid, height, behindBlocks, latencyMs, archive, subscribes } = row
  return [
    ...[upstream, url, (chainSaid ?? '-').replaceAll(/[^\x20-\x7e]/g, '?')],
    height === null ? '-' : `${height}${behindBlocks ? ` (-${behindBlocks})` : ''}`,
    time(latencyMs && latencyMs / 1_000),
    typeof archive !== 'number' ? (archive ?? '-') : archive === 0 ? 'none' : `last ${archive}+`,
    subscribes === 'yes' || subscribes === null ? (subscribes ?? '-') : 'no',
    row.servedAddons.join(', ') || '-',
  ]
}
