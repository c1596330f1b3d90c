// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getSystemErrorMessage } from 'node:util'

/** One thing that is wrong with a config file, placed and with its remedy. */
export interface Problem {
  /** An error keeps the router from starting; a warning does not. */
  readonly severity: 'error' | 'warning'
  /** The place in the document, e.g. `endpoints[0].chain-id`; empty for the file as a whole. */
  readonly path: string
  /** 1-based; null where the file has no such place. */
  readonly line: number | null
  readonly column: number | null
  /** What is wrong. Never holds a rendered placeholder. */
  readonly message: string
  /** What would be right, as a sentence; null when the message says it already. */
  readonly hint: string | null
}

/** A place in the file, 1-based. */
export interface Position {
  readonly line: number
  readonly column: number
}

/**
 * The position in the file of a path such as `endpoints[0].chain-id`, or of the nearest one around it. A scalar is where
 * its value begins, or its key if that is wanted.
 */
export type Locate = (path: string, wantsKey?: boolean) => Position | null

/** A place in the document: keys of maps and indexes of lists. */
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

/** Notes what is wrong at a path of the file. */
export type Report = (
  path: string,
  message: string,
  hint?: string | null,
  severity?: Problem['severity'],
) => void

/** Gathers what is reported, each at its place in the file. */
export function gather(locate: Locate, check: (report: Report) => void): readonly Problem[] {
  const problems: Problem[] = []
  check((path, message, hint, severity) =>
    problems.push(problemAt(path, locate(path), message, hint, severity)),
  )
  return problems
}

/** Writes `endpoints[0].chain-id`; a key that would not read well is quoted. */
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

/** A text of the file as a message shows it: quoted, on one line, never long. */
export function quote(text: string): string {
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text
  return `"${shown.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\uFFFD')}"`
}

/** In the order of the file, the command line first. */
export function orderProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
}

/** Why a file could not be opened or read, in words. */
export function whyUnreadable(error: unknown): string {
  const { code, errno } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'ERR_INVALID_ARG_VALUE') return 'the path is not valid'
  return errno === undefined ? String(error) : getSystemErrorMessage(errno)
}

/** Why a file could not be made, in words. */
export function whyUnwritable(error: unknown): string {
  const isFolderMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
  return isFolderMissing ? 'its folder is missing' : whyUnreadable(error)
}

/** What is wrong with a text whose quotes are those of a word processor; null for any other text. */
export function typographicFault(text: string): string | null {
  const message = `has typographic quotes, and plain ones (" or ') are meant`
  return /^[\u2018-\u201F]/.test(text) ? message : null
}
