// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { rpcRouterConditions, upstreamProviderConditions } from '../../operator/api/conditions.ts'
import { projectText } from '../law/project-files.ts'

const page = projectText('docs/reference/conditions.md')

/** What is between a heading and the next one of its level. */
function below(text: string, heading: string): string {
  const [, rest = ''] = text.split(`\n${heading}\n`)
  return rest.split(`\n${heading.split(' ')[0]} `)[0] ?? ''
}

test.each([
  ['RpcRouter', rpcRouterConditions],
  ['UpstreamProvider', upstreamProviderConditions],
])(
  'conditions.md has the conditions of %s, each with its reasons, their status and a meaning',
  (kind, table) => {
    const section = below(page, `## ${kind}`)
    const types = [...section.matchAll(/^### (\w+)$/gm)].map(([, type]) => type)
    expect(types).toEqual(Object.keys(table))
    for (const [type, reasons] of Object.entries(table)) {
      const rows = below(section, `### ${type}`).matchAll(/^\| `(\w+)` +\| (\w+) +\| \S.*\|$/gm)
      expect([...rows].map(([, reason, status]) => [reason, status])).toEqual(
        Object.entries(reasons),
      )
    }
  },
)
