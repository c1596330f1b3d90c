// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getSystemErrorMessage } from 'node:util'

/** One problem of a config file, with its position and remedy. */
export interface Problem {
  /** An error prevents the router from starting; a warning does not. */
  readonly severity: 'error' | 'warning'
  /** Path in the document, such as `endpoints[0].chain-id`; empty for the whole file. */
  readonly path: string
  /** Starts at 1; null if the path has no position in the file. */
  readonly line: number | null
  readonly column: number | null
  /** What is wrong. Never contains a rendered placeholder. */
  readonly message: string
  /** How to fix it, as a sentence; null if the message already says so. */
  readonly hint: string | null
}

/** A position in the file; line and column start at 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/**
 * Locates a path such as `endpoints[0].chain-id`, or its nearest ancestor. Points at the start of a
 * scalar's value, or at its key if `wantsKey`.
 */
export type Locate = (path: string, wantsKey?: boolean) => Position | null

/** A path in the document: map keys and list indexes. */
export type Path = readonly (string | number)[]

export function problemAt(
  path: string,
  position: Position | null,
  message: string,
  hint: string | null = null,
  severity: Problem['severity'] = 'error',
): Problem {
  const { line, column } = position ?? { line: null, column: null }
  return { severity, path, line, column, message, hint }
}

/** Reports a problem at a path of the file. */
export type Report = (
  path: string,
  message: string,
  hint?: string | null,
  severity?: Problem['severity'],
) => void

/** Runs a check and returns the problems that it reports, with their positions in the file. */
export function gather(locate: Locate, check: (report: Report) => void): readonly Problem[] {
  const problems: Problem[] = []
  check((path, message, hint, severity) =>
    problems.push(problemAt(path, locate(path), message, hint, severity)),
  )
  return problems
}

/** Formats a path such as `endpoints[0].chain-id`, quoting unusual keys. */
export function formatPath(path: Path): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (!/^[A-Za-z0-9_-]{1,80}$/.test(part)) text += `[${quote(part)}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}

const longest = 60

/** Quotes a text from the file in a message: one line, truncated. */
export function quote(text: string): string {
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text
  return `"${shown.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\uFFFD')}"`
}

/** Sorts by position in the file; command-line problems come first. */
export function orderProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
}

/** Explains why a file could not be opened or read. */
export function whyUnreadable(error: unknown): string {
  const { code, errno } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'ERR_INVALID_ARG_VALUE') return 'the path is not valid'
  return errno === undefined ? String(error) : getSystemErrorMessage(errno)
}

/** Explains why a file could not be created. */
export function whyUnwritable(error: unknown): string {
  const isFolderMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
  return isFolderMissing ? 'its folder is missing' : whyUnreadable(error)
}

/** The likely cause of an address in use, and the key to change; empty for other codes. */
export function whyOccupied(code: string | undefined, key: string): string {
  if (code !== 'EADDRINUSE') return ''
  return `: another program listens there, perhaps a router that still runs; stop it, or change ${key}`
}

/** Describes typographic quotes around a text; null if there are none. */
export function typographicFault(text: string): string | null {
  const message = `has typographic quotes instead of plain ones (" or ')`
  return /^[\u2018-\u201F]/.test(text) ? message : null
}
