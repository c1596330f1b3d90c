// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

interface Row {
  readonly name: `router_${string}`
  /** Labels in addition to those of the group. No value comes from a client. */
  readonly and?: readonly string[]
  readonly help: string
  /** How to aggregate the values of workers; absent: their sum. `first`: the supervisor's. */
  readonly workers?: 'max' | 'min' | 'first'
  /** Upper bounds of a histogram's buckets, ascending, in the unit of its name. */
  readonly buckets?: readonly number[]
}

/** One metric family as a scraper sees it. */
export interface Series extends Row {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
}

/** Series with common labels. Counter names end with `_total`; a histogram has buckets. */
export function labelled<const Rows extends Readonly<Record<string, Row>>>(
  common: readonly string[],
  rows: Rows,
) {
  const all = Object.entries(rows).map(([key, row]): [string, Series] => {
    const counted = row.name.endsWith('_total') ? 'counter' : 'gauge'
    const labels = [...common, ...(row.and ?? [])]
    return [key, { ...row, labels, type: row.buckets ? 'histogram' : counted }]
  })
  return Object.fromEntries(all) as { readonly [Key in keyof Rows]: Rows[Key] & Series }
}
