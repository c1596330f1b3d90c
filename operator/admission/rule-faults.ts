// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Rule, rulesKeyword } from '../api/field.ts'
import type { RuleBook } from './cel.ts'
import { type Child, childrenOf } from './children.ts'
import type { Fault } from './fault.ts'

/** Rules that do not hold for a value or for what is inside of it. Those that compare with an earlier form are left out. */
export function ruleFaults(book: RuleBook, at: Child): readonly Fault[] {
  const rules = at.schema[rulesKeyword] ?? []
  return [
    ...rules
      .filter(({ rule }) => !/\boldSelf\b/.test(rule))
      .flatMap((rule) => judge(book, rule, at)),
    ...childrenOf(at).flatMap((child) => ruleFaults(book, child)),
  ]
}

function judge(
  book: RuleBook,
  { rule, message, fieldPath = '' }: Rule,
  { path, value }: Child,
): readonly Fault[] {
  const verdict = book.judge(rule, value)
  if ('error' in verdict)
    return [{ path, message: `${verdict.error} evaluating rule: ${message}`, blocks: false }]
  return verdict.holds ? [] : [{ path: `${path}${fieldPath}`, message, blocks: false }]
}
