// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, FailureTable, NodeError } from '../failure-table.ts'
import { matcher } from '../method-patterns.ts'
import type { FailureFile, FailureRow } from './schema.ts'

/** The fields of a row that describe the failure, without the fields that match it. */
type FailureFields = Omit<FailureRow, 'code' | 'status' | 'message' | 'examples'>

// A message may quote a request at any length; its beginning identifies the error.
const maxMessageLength = 1_000
/** An error about params may quote them. */
const invalidParams = -32_602

interface NodeErrorRow {
  readonly failure: FailureClass
  /** The failure for HTTP 500, in rows whose error would be the answer; null: ignore the status. */
  readonly ifOdd: FailureClass | null
  /** The failure without consequences, for rows that match by text alone; otherwise null. */
  readonly ifQuoted: FailureClass | null
  readonly codes: ReadonlySet<number> | null
  readonly statuses: ReadonlySet<number> | null
  readonly message: RegExp | null
  /** Matches the methods that return this error; null: all methods. */
  readonly isOf: ((method: string) => boolean) | null
}

/**
 * Merges the rows of several tables: rows marked `first`, then unmarked rows, then those marked
 * `last`. Within each group, the order of the tables decides.
 */
export function compileFailures(files: readonly FailureFile[]): FailureTable {
  const faults = firstOf(
    files.flatMap(({ transport = [] }) => transport),
    (row) => row.fault,
  )
  const statuses = firstOf(
    files.flatMap(({ http = [] }) => http),
    (row) => expand(row.status),
  )
  const answers = firstOf(
    files.flatMap((file) => file.answers ?? []),
    (row) => row.finding,
  )
  const rows = files
    .flatMap((file) => file['node-errors'] ?? [])
    .toSorted((a, b) => rowRank(a) - rowRank(b))
    .map(compileRow)
  const limits = rows.filter(({ failure, codes, message, isOf }) => {
    return (failure.cooldown || failure.busy) && codes === null && message !== null && isOf === null
  })
  const ofMethod = limits.find(({ failure: { limit } }) => limit === 'call')?.failure
  const ownStatuses = new Set(files.flatMap((file) => file['error-statuses'] ?? []))
  const hints = files.flatMap((file) => file['retry-after'] ?? [])
  const waits = hints.map((each) => new RegExp(each, 'i'))
  const ranges = files
    .flatMap((file) => file['range-limit'] ?? [])
    .map((each) => new RegExp(each, 'i'))
  /** The failure, with the wait or the range that the upstream names. */
  const hinted = (failure: FailureClass, message: string, details = ''): FailureClass => {
    const { range } = failure
    if (!failure.cooldown && !range) return failure
    const text = `${message.slice(0, maxMessageLength)} ${details}`
    if (range) return { ...failure, range: { ...range, blocks: namedBlocks(text, ranges) } }
    for (const each of waits) {
      const found = each.exec(text)?.groups
      if (!found) continue
      const { m = 0, s = 0, ms = 0 } = found
      return { ...failure, retryAfterMs: (Number(m) * 60 + Number(s)) * 1_000 + Number(ms) }
    }
    return failure
  }
  const ofStatus = (status: number) => statuses.get(status) ?? malformed
  return {
    ofTransport: (fault) => faults.get(fault) ?? unknownFault,
    ofStatus,
    ofPage(status, body) {
      const message = Buffer.from(body.subarray(0, maxMessageLength)).toString('latin1')
      // The status of a server error decides, unless a row is about this status.
      const limit = limits.find(
        (row) =>
          (status < 500 || row.statuses !== null) &&
          matches(row, { status, code: null, message }, null),
      )
      return hinted(limit?.failure ?? ofStatus(status), message)
    },
    ofNodeError(error, method = null, runsCallerCode = false) {
      const { status, code } = error
      const isOdd = isOddStatus(status) && !ownStatuses.has(status)
      const isQuoting = runsCallerCode || code === invalidParams
      let byWords: FailureClass | null = null
      for (const row of rows) {
        if (isOdd && row.ifOdd !== null && status !== 500) continue
        if (!matches(row, error, method)) continue
        // The code or the status may classify the error more precisely.
        if (isQuoting && row.ifQuoted !== null) byWords ??= row.ifQuoted
        else {
          const { cooldown, limit } = row.failure
          const isOfMethod = cooldown && limit !== 'call' && namesMethod(error.message, method)
          const failure = (isOfMethod && ofMethod) || (isOdd && row.ifOdd) || row.failure
          return hinted(failure, error.message, error.details)
        }
      }
      return byWords ?? unknownError
    },
    ofAnswer: (finding) => answers.get(finding) ?? malformed,
  }
}

/** Whether a limit is that of the called method. A name such as `block` may be an ordinary word. */
function namesMethod(message: string, method: string | null): boolean {
  const at = method !== null && /_|[a-z][A-Z]/.test(method) ? message.indexOf(method) : -1
  return at >= 0 && !/\w/.test(message.charAt(at + (method?.length ?? 0)))
}

/** Blocks that a node names as acceptable, such as `10,000`, `2K` or `[0x1, 0x64]`. */
function namedBlocks(text: string, patterns: readonly RegExp[]): number | null {
  for (const each of patterns) {
    const { blocks, from, to } = each.exec(text)?.groups ?? {}
    const [, digits = '', unit = ''] = /^([\d,._]+) ?([km]?)$/i.exec(blocks ?? '') ?? []
    const scale = { k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
    const named = blocks
      ? Number(digits.replaceAll(/[,._]/g, '')) * scale
      : Number(to) - Number(from) + 1
    if (Number.isSafeInteger(named) && named > 0) return named
  }
  return null
}

/** Maps keys to failures. If several rows share a key, the first wins. */
function firstOf<Row extends FailureFields, Key>(
  rows: readonly Row[],
  keysOf: (row: Row) => Iterable<Key>,
) {
  const failures = new Map<Key, FailureClass>()
  for (const row of rows)
    for (const key of keysOf(row)) if (!failures.has(key)) failures.set(key, failureOf(row))
  return failures
}

function rowRank({ first, last }: FailureRow): number {
  return Number(last ?? false) - Number(first ?? false)
}

function compileRow(row: FailureRow): NodeErrorRow {
  const failure = failureOf(row)
  const { origin, retry, cooldown, weight } = failure
  // The error is the answer, so no other upstream is tried.
  const isFinal = origin !== 'upstream' && !retry && !cooldown
  const isForAny = row.status !== undefined || !isFinal
  return {
    failure,
    ifOdd: isForAny ? null : Object.freeze({ ...failure, retry: true, doubtful: true }),
    ifQuoted:
      !row.code && !row.status && (cooldown || weight > 0)
        ? Object.freeze({ ...failure, cooldown: false, limit: null, busy: false, weight: 0 })
        : null,
    codes: row.code ? new Set(row.code) : null,
    statuses: row.status ? expand(row.status) : null,
    message: row.message
      ? new RegExp(row.message.map((each) => `(?:${each})`).join('|'), 'i')
      : null,
    isOf: row['only-for'] ? matcher(row['only-for']) : null,
  }
}

/**
 * Whether a status means server trouble or missing access, so that the body is not a node's answer.
 * 500 can mean either: see `specs/README.md`.
 */
function isOddStatus(status: number): boolean {
  return status >= 500 || [401, 402, 403, 407, 408, 429].includes(status)
}

function matches(row: NodeErrorRow, error: NodeError, method: string | null): boolean {
  if (row.codes !== null && (error.code === null || !row.codes.has(error.code))) return false
  if (row.statuses !== null && !row.statuses.has(error.status)) return false
  if (row.isOf !== null && (method === null || !row.isOf(method))) return false
  if (row.message === null) return true
  const message = error.message.slice(0, maxMessageLength)
  // Some gateways call such an error `invalid params`, and put the limit in `data`.
  const details = row.failure.range ? error.details : undefined
  return row.message.test(details ? `${message} ${details}` : message)
}

/** The failure of a row, with defaults filled in. */
export function failureOf(row: FailureFields): FailureClass {
  const isBlamed = row.origin === 'upstream' && row.cooldown !== true
  return Object.freeze({
    name: row.name,
    origin: row.origin,
    retry: row.retry ?? (row.origin === 'upstream' || row.doubtful === true),
    cooldown: row.cooldown ?? false,
    limit: row.limit ?? (row.cooldown ? 'rate' : null),
    weight: row.weight ?? (isBlamed ? 1 : 0),
    reported: row.reported ?? false,
    late: row.late ?? false,
    busy: row.busy ?? false,
    doubtful: row.doubtful ?? false,
    pruned: row.pruned ?? false,
    ...(row.range && { range: { limits: row.range, blocks: null } }),
    transaction: row.transaction ?? null,
  })
}

/** `5xx` expands to 500 to 599. */
function expand(statuses: readonly (number | string)[]): Set<number> {
  return new Set(
    statuses.flatMap((status) =>
      typeof status === 'number'
        ? [status]
        : Array.from({ length: 100 }, (_, at) => Number(status.charAt(0)) * 100 + at),
    ),
  )
}

/** A fault that no table lists. */
const unknownFault = failureOf({ name: 'unknown-fault', origin: 'upstream' })

/** An answer that is not in the interface's format, with a status that no table lists. */
const malformed = failureOf({ name: 'malformed', origin: 'upstream' })

/**
 * An error that no row matches: the node's own answer, or a gateway's trouble. It does not blame
 * the upstream, because any client may have caused it.
 */
const unknownError = failureOf({ name: 'unknown-error', origin: 'node', doubtful: true })
