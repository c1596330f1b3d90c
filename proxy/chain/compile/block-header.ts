// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRule } from '../chain-spec.ts'

/** Lets headers name the block of a method that would be about a tag without them. */
export function withBlockHeaders(rule: BlockRule, headers: readonly string[]): BlockRule {
  if (rule.kind !== 'fixed' || rule.block === 'none' || headers.length === 0) return rule
  return {
    kind: 'point',
    places: headers.map((name) => ({ in: 'header', name })),
    form: 'number',
    absent: rule.block,
    numberField: '',
    hashField: '',
  }
}
