// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { clean } from '../telemetry/format.ts'
import type { Facts } from './facts.ts'

type TopOfRouter = Facts['clients']['calls']
const kinds = ['calls', 'errors', 'refusals'] as const
const maxListed = 5

interface ClientLine {
  readonly text: string
  readonly tone: 'head' | 'plain'
  readonly about?: string
}

/** The most frequent clients of all replicas together, by calls, errors and refusals. */
export function clientsOf(all: readonly Pick<Facts, 'clients'>[]): Facts['clients'] {
  const sumOf = (kind: (typeof kinds)[number]): TopOfRouter => {
    const tops = all.map(({ clients }) => clients[kind])
    const groups = Map.groupBy(
      tops.flatMap(({ clients }) => clients),
      ({ address, userAgent }) => `${address} ${userAgent}`,
    )
    const sum = (list: readonly { readonly perMinute: number }[]) =>
      list.reduce((total, { perMinute }) => total + perMinute, 0)
    const clients = [...groups.values()].map((same) => {
      return { ...(same[0] as (typeof same)[number]), perMinute: sum(same) }
    })
    const sorted = clients.toSorted((a, b) => b.perMinute - a.perMinute)
    return { perMinute: sum(tops), clients: sorted.slice(0, maxListed) }
  }
  return { calls: sumOf('calls'), errors: sumOf('errors'), refusals: sumOf('refusals') }
}

/** A section with a line for each client; empty without clients. */
export function clientLines(clients: Facts['clients'], columns: number): readonly ClientLine[] {
  const width = Math.max(
    ...kinds.flatMap((kind) => clients[kind].clients.map(({ address }) => address.length)),
  )
  const rows = kinds.flatMap((kind) => {
    const top = clients[kind]
    return top.clients.map(({ address, userAgent, perMinute }): ClientLine => {
      const share = `${Math.round((perMinute / Math.max(top.perMinute, 1)) * 100)}%`
      const count = `${perMinute} ${kind} a minute`.padEnd(24)
      const text = `${address.padEnd(width)} ${count} ${share.padStart(4)}  ${userAgent ?? '-'}`
      return { text: clean(` ${text}`).slice(0, columns), tone: 'plain', about: address }
    })
  })
  if (rows.length === 0) return []
  return [{ text: '', tone: 'plain' }, { text: 'CLIENTS', tone: 'head' }, ...rows]
}
