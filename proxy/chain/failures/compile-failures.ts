// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  AnswerFinding,
  FailureClass,
  FailureTable,
  NodeError,
  TransportFault,
} from '../failure-table.ts'
import type { FailureFile, FailureVerdict } from './schema.ts'

// A message may quote what a stranger wrote; its beginning says what it is about.
const longestMessage = 1_000

interface NodeErrorRow {
  readonly verdict: FailureClass
  /** What it is worth with HTTP 500, where it would be the answer; null where any status may come with it. */
  readonly ifOdd: FailureClass | null
  readonly codes: ReadonlySet<number> | null
  readonly statuses: ReadonlySet<number> | null
  readonly message: RegExp | null
  /** What methods have this error; null where all may. */
  readonly isOf: ((method: string) => boolean) | null
}

/**
 * Rows of several tables as one: those marked `first`, whichever table they stand in, then the rest,
 * then those marked `last`; among each the first table's before the others'.
 */
export function compileFailures(files: readonly FailureFile[]): FailureTable {
  const faults = new Map<TransportFault, FailureClass>()
  const statuses = new Map<number, FailureClass>()
  const answers = new Map<AnswerFinding, FailureClass>()
  // The last to be set counts, and that is to be the first in the order of the tables.
  for (const file of files.toReversed()) {
    for (const row of file.transport?.toReversed() ?? [])
      for (const fault of row.fault) faults.set(fault, verdictOf(row))
    for (const row of file.http?.toReversed() ?? [])
      for (const status of expand(row.status)) statuses.set(status, verdictOf(row))
    for (const row of file.answers?.toReversed() ?? [])
      for (const finding of row.finding) answers.set(finding, verdictOf(row))
  }
  const rows = files
    .flatMap((file) => file['node-errors'] ?? [])
    .toSorted((a, b) => turnOf(a) - turnOf(b))
    .map(compileRow)
  const limits = rows.filter(({ verdict, codes, message, isOf }) => {
    return verdict.holdOff && codes === null && message !== null && isOf === null
  })
  const ownStatuses = new Set(files.flatMap((file) => file['error-statuses'] ?? []))
  const ofStatus = (status: number) => statuses.get(status) ?? malformed
  return {
    ofTransport: (fault) => faults.get(fault) ?? unknownFault,
    ofStatus,
    ofPage(status, body) {
      // A server in trouble is in trouble, whatever else stands on its page.
      if (status >= 500) return ofStatus(status)
      const message = Buffer.from(body.subarray(0, longestMessage)).toString('latin1')
      const limit = limits.find((row) => matches(row, { status, code: null, message }, null))
      return limit?.verdict ?? ofStatus(status)
    },
    ofNodeError(error, method = null) {
      const { status } = error
      const isOdd = isOddStatus(status) && !ownStatuses.has(status)
      for (const row of rows) {
        if (isOdd && row.ifOdd !== null && status !== 500) continue
        if (matches(row, error, method)) return (isOdd && row.ifOdd) || row.verdict
      }
      return unknownError
    },
    ofAnswer: (finding) => answers.get(finding) ?? malformed,
  }
}

type ErrorRow = NonNullable<FailureFile['node-errors']>[number]

function turnOf({ first, last }: ErrorRow): number {
  return Number(last ?? false) - Number(first ?? false)
}

function compileRow(row: ErrorRow): NodeErrorRow {
  const verdict = verdictOf(row)
  const { whose, retry, holdOff } = verdict
  // An error that is the answer: nobody else is asked.
  const isFinal = whose !== 'upstream' && !retry && !holdOff
  const isForAny = row.status !== undefined || !isFinal
  return {
    verdict,
    ifOdd: isForAny ? null : Object.freeze({ ...verdict, retry: true, doubtful: true }),
    codes: row.code === undefined ? null : new Set(row.code),
    statuses: row.status === undefined ? null : expand(row.status),
    message:
      row.message === undefined
        ? null
        : new RegExp(row.message.map((each) => `(?:${each})`).join('|'), 'i'),
    isOf: row['only-for'] === undefined ? null : matcher(row['only-for']),
  }
}

/** Whether a method is one of these, or begins like one that ends with `*`. */
function matcher(names: readonly string[]): (method: string) => boolean {
  const whole = new Set(names.filter((each) => !each.endsWith('*')))
  const beginnings = names.filter((each) => each.endsWith('*')).map((each) => each.slice(0, -1))
  return (method) => whole.has(method) || beginnings.some((each) => method.startsWith(each))
}

/**
 * Statuses by which whoever answered speaks of itself, or of who may ask it: what stands in the body
 * is then no node's word about the request. Of 500 nobody knows: see `specs/README.md`.
 */
function isOddStatus(status: number): boolean {
  return status >= 500 || [401, 402, 403, 407, 408, 429].includes(status)
}

function matches(row: NodeErrorRow, error: NodeError, method: string | null): boolean {
  if (row.codes !== null && (error.code === null || !row.codes.has(error.code))) return false
  if (row.statuses !== null && !row.statuses.has(error.status)) return false
  if (row.isOf !== null && (method === null || !row.isOf(method))) return false
  return row.message === null || row.message.test(error.message.slice(0, longestMessage))
}

/** A row's verdict with its defaults filled in. */
export function verdictOf(row: FailureVerdict): FailureClass {
  const isBlamed = row.whose === 'upstream' && row['hold-off'] !== true
  return Object.freeze({
    name: row.name,
    whose: row.whose,
    retry: row.retry ?? (row.whose === 'upstream' || row.doubtful === true),
    holdOff: row['hold-off'] ?? false,
    weight: row.weight ?? (isBlamed ? 1 : 0),
    reported: row.reported ?? false,
    late: row.late ?? false,
    doubtful: row.doubtful ?? false,
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

/** What no table names. */
const unknownFault = verdictOf({ name: 'unknown-fault', whose: 'upstream' })

/** Something that is no answer in the interface's form, with a status that no table names. */
const malformed = verdictOf({ name: 'malformed', whose: 'upstream' })

/**
 * An error that no row knows: the node's own answer, as likely as the trouble of a gateway before it.
 * Nobody is blamed for it, for a stranger may have brought it about.
 */
const unknownError = verdictOf({ name: 'unknown-error', whose: 'node', doubtful: true })
