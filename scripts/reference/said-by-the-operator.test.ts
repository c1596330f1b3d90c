// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { rpcRouterConditions, upstreamProviderConditions } from '../../operator/api/conditions.ts'
import { eventReasons } from '../../operator/api/events.ts'
import { projectText } from '../law/project-files.ts'

const page = projectText('docs/reference/conditions.md')

/** The text between a heading and the next heading of its level. */
function below(text: string, heading: string): string {
  const [, rest = ''] = text.split(`\n${heading}\n`)
  return rest.split(`\n${heading.split(' ')[0]} `)[0] ?? ''
}

test.each([
  ['RpcRouter', rpcRouterConditions],
  ['UpstreamProvider', upstreamProviderConditions],
])('conditions.md has each condition of %s with reasons, status and meaning', (kind, table) => {
  const section = below(page, `## ${kind}`)
  const types = [...section.matchAll(/^### (\w+)$/gm)].map(([, type]) => type)
  expect(types).toEqual(Object.keys(table))
  for (const [type, reasons] of Object.entries(table)) {
    const rows = below(section, `### ${type}`).matchAll(/^\| `(\w+)` +\| (\w+) +\| \S.*\|$/gm)
    expect([...rows].map(([, reason, status]) => [reason, status])).toEqual(Object.entries(reasons))
  }
})

test('events.md has type, kinds, action, cause and runbook of each event', () => {
  const rows = projectText('docs/reference/events.md').matchAll(
    /^\| `(\w+)` +\| (\w+) +\| ([^|]+?) +\| (\w+) +\| \S[^|]*\| ([^|]*?) *\|$/gm,
  )
  const expected = Object.entries(eventReasons).map(([reason, { type, of: kinds, action }]) => {
    const page = reason.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()
    const link = type === 'Warning' ? `[What to do](../runbooks/${page}.md)` : ''
    return [reason, type, kinds.map((kind) => `\`${kind}\``).join(', '), action, link]
  })
  expect([...rows].map((row) => row.slice(1))).toEqual(expected)
})
