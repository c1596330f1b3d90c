// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type ConditionMeaning,
  rpcRouterConditions,
  upstreamProviderConditions,
} from '../../operator/api/conditions.ts'
import { fillIn } from '../generate/fill-in.ts'

/** The text of `docs/reference/conditions.md`. */
export function render(): string {
  return fillIn('docs/reference/conditions.md', {
    router: Object.entries(rpcRouterConditions).flatMap(condition),
    provider: Object.entries(upstreamProviderConditions).flatMap(condition),
  })
}

function condition([type, of]: readonly [string, ConditionMeaning]): readonly string[] {
  return [
    `### ${type}`,
    '',
    of.meaning,
    '',
    '| Reason | Status | When | What to do |',
    '|---|---|---|---|',
    ...Object.entries(of.reasons).map(
      ([reason, { status, when, remedy }]) =>
        `| \`${reason}\` | ${status} | ${cell(when)} | ${cell(remedy ?? '')} |`,
    ),
    '',
  ]
}

function cell(text: string): string {
  return text.replaceAll(/\$\{\w+\}/g, '`$&`')
}
