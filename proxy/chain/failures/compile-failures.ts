// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AnswerFinding, FailureClass, FailureTable, NodeError } from '../failure-table.ts'
import type { FailureFile, FailureVerdict } from './schema.ts'

// A message may quote what a stranger wrote; its beginning says what it is about.
const longestMessage = 1_000

interface NodeErrorRow {
  readonly verdict: FailureClass
  readonly codes: ReadonlySet<number> | null
  readonly statuses: ReadonlySet<number> | null
  readonly message: RegExp | null
}

/**
 * Rows of several tables as one: those marked `first`, whichever table they stand in, then the rest,
 * the first table's before the others'.
 */
export function compileFailures(files: readonly FailureFile[]): FailureTable {
  const faults = new Map<string, FailureClass>()
  const statuses = new Map<number, FailureClass>()
  const answers = new Map<AnswerFinding, FailureClass>()
  const firstRows: NodeErrorRow[] = []
  const rows: NodeErrorRow[] = []
  for (const file of files) {
    for (const row of file.transport ?? [])
      for (const fault of row.fault) setFirst(faults, fault, verdictOf(row))
    for (const row of file.http ?? [])
      for (const status of expand(row.status)) setFirst(statuses, status, verdictOf(row))
    for (const row of file.answers ?? [])
      for (const finding of row.finding) setFirst(answers, finding, verdictOf(row))
    for (const row of file['node-errors'] ?? [])
      (row.first ? firstRows : rows).push({
        verdict: verdictOf(row),
        codes: row.code === undefined ? null : new Set(row.code),
        statuses: row.status === undefined ? null : expand(row.status),
        message:
          row.message === undefined
            ? null
            : new RegExp(row.message.map((each) => `(?:${each})`).join('|'), 'gi'),
      })
  }
  const inOrder = [...firstRows, ...rows]
  return {
    ofTransport: (fault) => faults.get(fault) ?? unknownFault,
    ofStatus: (status) => statuses.get(status) ?? malformed,
    ofNodeError: (error, isQuoted = () => false) =>
      inOrder.find((row) => matches(row, error, isQuoted))?.verdict ?? otherNodeError,
    ofAnswer: (finding) => answers.get(finding) ?? malformed,
  }
}

function matches(
  row: NodeErrorRow,
  error: NodeError,
  isQuoted: (words: string) => boolean,
): boolean {
  if (row.codes !== null && (error.code === null || !row.codes.has(error.code))) return false
  if (row.statuses !== null && !row.statuses.has(error.status)) return false
  if (row.message === null) return true
  const found = error.message.slice(0, longestMessage).matchAll(row.message)
  const { holdOff, weight } = row.verdict
  return found.some(([words]) => (!holdOff && weight === 0) || !isQuoted(words))
}

/** A row's verdict with its defaults filled in. */
export function verdictOf(row: FailureVerdict): FailureClass {
  const blamed = row.whose === 'upstream' && row['hold-off'] !== true
  return Object.freeze({
    name: row.name,
    whose: row.whose,
    retry: row.retry ?? row.whose === 'upstream',
    holdOff: row['hold-off'] ?? false,
    weight: row.weight ?? (blamed ? 1 : 0),
    reported: row.reported ?? false,
    late: row.late ?? false,
    transaction: row.transaction ?? null,
  })
}

/** `5xx` stands for 500 to 599. */
function expand(statuses: readonly (number | string)[]): Set<number> {
  return new Set(
    statuses.flatMap((status) =>
      typeof status === 'number'
        ? [status]
        : Array.from({ length: 100 }, (_, at) => Number(status.charAt(0)) * 100 + at),
    ),
  )
}

function setFirst<Key>(map: Map<Key, FailureClass>, key: Key, value: FailureClass): void {
  if (!map.has(key)) map.set(key, value)
}

/** What no table names. */
const unknownFault: FailureClass = Object.freeze({
  name: 'unknown-fault',
  whose: 'upstream',
  retry: true,
  holdOff: false,
  weight: 1,
  reported: false,
  late: false,
  transaction: null,
})

/** Something that is no answer in the interface's form, with a status that no table names. */
const malformed: FailureClass = Object.freeze({
  name: 'malformed',
  whose: 'upstream',
  retry: true,
  holdOff: false,
  weight: 1,
  reported: false,
  late: false,
  transaction: null,
})

/** An error in the node's own words that no row knows: it is the answer. */
const otherNodeError: FailureClass = Object.freeze({
  name: 'node-error',
  whose: 'node',
  retry: false,
  holdOff: false,
  weight: 0,
  reported: false,
  late: false,
  transaction: null,
})
