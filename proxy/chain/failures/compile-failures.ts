// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  AnswerFinding,
  FailureClass,
  FailureTable,
  NodeError,
  TransportFault,
} from '../failure-table.ts'
import type { FailureFile, FailureVerdict, KeptFrom, ReadKind } from './schema.ts'

// A message may quote what a stranger wrote; its beginning says what it is about.
const longestMessage = 1_000

interface NodeErrorRow {
  readonly verdict: FailureClass
  /** What it is worth with HTTP 500, where it would be the answer; null where any status may come with it. */
  readonly ifOdd: FailureClass | null
  readonly codes: ReadonlySet<number> | null
  readonly statuses: ReadonlySet<number> | null
  readonly message: RegExp | null
  /** What reads cannot have this error; null where all can. */
  readonly notFor: KeptFrom | null
  /** Reads beside which nothing has this error; null where everything may. */
  readonly onlyFor: readonly ReadKind[] | null
}

/**
 * Rows of several tables as one: those marked `first`, whichever table they stand in, then the rest,
 * then those marked `last`; among each the first table's before the others'.
 */
export function compileFailures(files: readonly FailureFile[]): FailureTable {
  const faults = new Map<TransportFault, FailureClass>()
  const statuses = new Map<number, FailureClass>()
  const answers = new Map<AnswerFinding, FailureClass>()
  const firstRows: NodeErrorRow[] = []
  const rows: NodeErrorRow[] = []
  const lastRows: NodeErrorRow[] = []
  const isOf = readsOf(files)
  const ownStatuses = new Set(files.flatMap((file) => file['error-statuses'] ?? []))
  for (const file of files) {
    for (const row of file.transport ?? [])
      for (const fault of row.fault) setFirst(faults, fault, verdictOf(row))
    for (const row of file.http ?? [])
      for (const status of expand(row.status)) setFirst(statuses, status, verdictOf(row))
    for (const row of file.answers ?? [])
      for (const finding of row.finding) setFirst(answers, finding, verdictOf(row))
    for (const row of file['node-errors'] ?? []) {
      const verdict = verdictOf(row)
      const isForAny = row.status !== undefined || !isFinal(verdict)
      const list = row.first ? firstRows : row.last ? lastRows : rows
      list.push({
        verdict,
        ifOdd: isForAny ? null : Object.freeze({ ...verdict, retry: true, doubtful: true }),
        codes: row.code === undefined ? null : new Set(row.code),
        statuses: row.status === undefined ? null : expand(row.status),
        message:
          row.message === undefined
            ? null
            : new RegExp(row.message.map((each) => `(?:${each})`).join('|'), 'gi'),
        notFor: row['not-for'] ?? null,
        onlyFor: row['only-for'] ?? null,
      })
    }
  }
  const inOrder = [...firstRows, ...rows, ...lastRows]
  const limits = inOrder.filter(({ verdict, codes, message, onlyFor }) => {
    return verdict.holdOff && codes === null && message !== null && onlyFor === null
  })
  const ofStatus = (status: number) => statuses.get(status) ?? malformed
  return {
    ofTransport: (fault) => faults.get(fault) ?? unknownFault,
    ofStatus,
    ofPage(status, body, isQuoted = () => false) {
      // A server in trouble is in trouble, whatever else stands on its page.
      if (status >= 500) return ofStatus(status)
      const message = Buffer.from(body.subarray(0, longestMessage)).toString('latin1')
      const limit = limits.find((row) => matches(row, { status, code: null, message }, isQuoted))
      return limit?.verdict ?? ofStatus(status)
    },
    ofNodeError(error, isQuoted = () => false, asked = null) {
      const read = asked?.known && asked.kind === 'read' ? asked.method : null
      let otherwise = unknownError
      for (const row of inOrder) {
        if (!matches(row, error, isQuoted)) continue
        const { notFor, onlyFor, verdict } = row
        if (onlyFor && !onlyFor.some((kind) => asked && isOf[kind](asked.method))) continue
        const isOdd =
          row.ifOdd !== null && isOddStatus(error.status) && !ownStatuses.has(error.status)
        if (isOdd && error.status !== 500) continue
        if (read === null || notFor === null || !isOf[notFor](read))
          return isOdd && row.ifOdd ? row.ifOdd : verdict
        otherwise = isOf.plain(read) && notFor !== 'without-params' ? implausible : errorOutOfPlace
      }
      return otherwise
    },
    ofAnswer: (finding) => answers.get(finding) ?? malformed,
  }
}

/** Whether a read is of a kind. What takes no params is a plain read as well. */
function readsOf(
  files: readonly FailureFile[],
): Readonly<Record<KeptFrom | ReadKind, (read: string) => boolean>> {
  const namesOf = (kind: ReadKind) => files.flatMap((file) => file.reads?.[kind] ?? [])
  const withoutParams = namesOf('without-params')
  return {
    'without-params': matcher(withoutParams),
    plain: matcher([...withoutParams, ...namesOf('plain')]),
    code: matcher(namesOf('code')),
    heavy: matcher(namesOf('heavy')),
    any: () => true,
  }
}

/** Whether a text is one of these, or begins like one that ends with `*`. */
function matcher(names: readonly string[]): (text: string) => boolean {
  const whole = new Set(names.filter((each) => !each.endsWith('*')))
  const beginnings = names.filter((each) => each.endsWith('*')).map((each) => each.slice(0, -1))
  return (text) => whole.has(text) || beginnings.some((each) => text.startsWith(each))
}

/** The error is the answer: nobody else is asked. */
function isFinal({ whose, retry, holdOff }: FailureClass): boolean {
  return whose !== 'upstream' && !retry && !holdOff
}

/**
 * Statuses by which whoever answered speaks of itself, or of who may ask it: what stands in the body
 * is then no node's word about the request. Of 500 nobody knows: see `specs/README.md`.
 */
function isOddStatus(status: number): boolean {
  return status >= 500 || [401, 402, 403, 407, 408, 429].includes(status)
}

function matches(
  row: NodeErrorRow,
  error: NodeError,
  isQuoted: (words: string) => boolean,
): boolean {
  if (row.codes !== null && (error.code === null || !row.codes.has(error.code))) return false
  if (row.statuses !== null && !row.statuses.has(error.status)) return false
  if (row.message === null) return !(error.ofLargeRequest && row.verdict.holdOff)
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
    retry: row.retry ?? (row.whose === 'upstream' || row.doubtful === true),
    holdOff: row['hold-off'] ?? false,
    weight: row.weight ?? (blamed ? 1 : 0),
    reported: row.reported ?? false,
    late: row.late ?? false,
    doubtful: row.doubtful ?? false,
    costsScore: false,
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
const unknownFault = verdictOf({ name: 'unknown-fault', whose: 'upstream' })

/** Something that is no answer in the interface's form, with a status that no table names. */
const malformed = verdictOf({ name: 'malformed', whose: 'upstream' })

/**
 * An error that no row knows: the node's own answer, as likely as the trouble of a gateway before it.
 * Nobody is blamed for it, for a stranger may have brought it about.
 */
const unknownError = verdictOf({ name: 'unknown-error', whose: 'node', doubtful: true })

/**
 * An error that the tables know, and that such a read cannot have: whoever says it may be a liar, or a
 * node of a kind of its own. Nobody has failed.
 */
const errorOutOfPlace = verdictOf({ name: 'error-out-of-place', whose: 'node', doubtful: true })

/** The same where no client can have brought it about. */
const implausible: FailureClass = Object.freeze({ ...errorOutOfPlace, costsScore: true })
