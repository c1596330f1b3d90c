// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Problem } from '../config/problem.ts'

/**
 * One line for one problem: `file:line:column: error: path: message. hint`; what is wrong with a flag or a variable is
 * not of the file: `router: error: --flag: message. hint`.
 */
export function problemLine(file: string, problem: Problem): string {
  const { severity, path, line, column, message, hint } = problem
  const origin = /^(?:-|SR_)/.test(path) ? 'router' : file
  const place = line === null ? origin : `${file}:${line}:${column ?? 1}`
  const about = path === '' ? '' : `${path}: `
  const remedy = hint === null ? '' : ` ${sentence(hint)}`
  return `${place}: ${severity}: ${about}${sentence(message)}${remedy}`
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}
