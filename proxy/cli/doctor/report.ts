// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { aligned, time } from '../../console/format.ts'
import type { Diagnosis, Subject } from './advice.ts'

/** One URL in the report. */
export interface ReportRow extends Subject, Diagnosis {
  readonly upstream: string
  /** Printable: without keys. */
  readonly url: string
  /** `ETH1 jsonrpc`. */
  readonly group: string
  /** `config.yml:12`. */
  readonly place: string
}

const columns = 'UPSTREAM,URL,CHAIN,HEIGHT,LATENCY,ARCHIVE,SUBSCRIBE,ADD-ONS'.split(',')

/** The report for a person: a table for each chain and interface, and under each URL what to do about it. */
export function reportText(rows: readonly ReportRow[]): string {
  const lines: string[] = []
  for (const [group, own] of Map.groupBy(rows, (row) => row.group)) {
    const marked = own.map((row) => [isRight(row) ? 'ok    ' : 'CHANGE', ...cellsOf(row)])
    const [head = '', ...table] = aligned([['', ...columns], ...marked])
    lines.push(group, head)
    for (const [at, { place, advice }] of own.entries())
      lines.push(
        table[at] ?? '',
        ...advice.map(({ severity, message }) => `        ${place}: ${severity}: ${message}`),
      )
    lines.push('')
  }
  const wrong = rows.filter((row) => !isRight(row)).length
  lines.push(
    `${rows.length} ${rows.length === 1 ? 'URL' : 'URLs'} asked, ${wrong === 0 ? 'none' : wrong} to change.`,
  )
  return `${lines.join('\n')}\n`
}

/** The same as one document for programs. */
export function reportJson(file: string, rows: readonly ReportRow[]): string {
  const urls = rows.map((row) => {
    const { chain, iface, upstream, url, place, facts, behindBlocks, servedAddons, advice } = row
    const { head, latencyMs, depth, subscribes } = facts
    return {
      ...{ ok: isRight(row), chain: chain.id, interface: iface.apiInterface },
      ...{ upstream, url, place, height: head?.block ?? null, behindBlocks },
      ...{ latencyMs: latencyMs && Math.round(latencyMs), archive: depth, subscribes },
      ...{ servedAddons, advice },
    }
  })
  return `${JSON.stringify({ version: 1, file, ok: rows.every(isRight), urls }, null, 2)}\n`
}

/** Nothing about it must change. */
export function isRight({ advice }: Pick<ReportRow, 'advice'>): boolean {
  return advice.every(({ severity }) => severity !== 'change')
}

function cellsOf({ upstream, url, facts, behindBlocks, servedAddons }: ReportRow): string[] {
  const { head, latencyMs, checks, depth, subscribes } = facts
  const identity = checks.find(({ verification }) => verification.name === 'chain-id')
  const { value } = identity ?? {}
  const shown = typeof value === 'string' ? value : (JSON.stringify(value) ?? '-')
  const behind = behindBlocks ? ` (-${behindBlocks})` : ''
  const state = depth === null || depth === 'all' ? (depth ?? '-') : `last ${depth}+`
  return [
    upstream,
    url,
    identity?.why === null ? 'ok' : shown.slice(0, 12).replaceAll(/[^\x20-\x7e]/g, '?'),
    head === null ? '-' : `${head.block}${behind}`,
    time(latencyMs === null ? null : latencyMs / 1_000),
    depth === 0 ? 'none' : state,
    subscribes === 'yes' || subscribes === null ? (subscribes ?? '-') : 'no',
    servedAddons.join(', ') || '-',
  ]
}
