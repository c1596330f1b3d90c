// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type ConditionMeaning,
  rpcRouterConditions,
  upstreamProviderConditions,
} from '../../operator/api/conditions.ts'

/** The text of `docs/reference/conditions.md`. */
export function render(): string {
  return [
    '<!-- Generated from operator/api/conditions.ts. Do not edit. -->',
    '',
    '# Conditions',
    '',
    'What `status.conditions` says, by kind and type. `observedGeneration` says which generation was judged;',
    '`lastTransitionTime` changes only when the status does. A condition that is missing means Unknown. Reasons are for programs and',
    'stay as they are; messages are for humans and may change.',
    '',
    '```sh',
    'kubectl wait --for=condition=Ready rpcrouter/mainnet --timeout=2m',
    'kubectl get rpcr mainnet -o jsonpath=\'{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\\n"}{end}\'',
    '```',
    '',
    '## RpcRouter',
    '',
    ...Object.entries(rpcRouterConditions).flatMap(([type, of]) => condition(type, of)),
    '## UpstreamProvider',
    '',
    '`status.routers[]` has `Accepted`, `Programmed` and `Healthy` for each router that selects it.',
    '',
    ...Object.entries(upstreamProviderConditions).flatMap(([type, of]) => condition(type, of)),
  ].join('\n')
}

function condition(type: string, of: ConditionMeaning): readonly string[] {
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
