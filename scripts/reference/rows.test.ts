// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { directiveHeaders } from '../../proxy/listener/directives.ts'
import { metadataHeaders } from '../../proxy/listener/headers.ts'
import { errorKinds } from '../../proxy/relay/errors.ts'
import { series as operatorSeries } from '../../operator/cli/series.ts'
import { series } from '../../proxy/telemetry/series.ts'
import { projectText } from '../law/project-files.ts'

const labelsOf = (all: Readonly<Record<string, { readonly labels: readonly string[] }>>) => [
  ...new Set(Object.values(all).flatMap((one) => one.labels)),
]

test.each([
  ['headers', '## Of a request: directives', Object.values(directiveHeaders)],
  ['headers', '## Of a response: what happened', Object.values(metadataHeaders)],
  ['metrics', '## Labels', labelsOf(series)],
  ['operator-metrics', '## Labels', labelsOf(operatorSeries)],
])('%s.md, "%s", has a row for each name of the code, and no other', (page, heading, names) => {
  const [, section] = projectText(`docs/reference/${page}.md`).split(`\n${heading}\n`)
  const rows = section!.split('\n## ')[0]!.matchAll(/^\| `([^`]+)` +\|/gm)
  expect(new Set(rows.map(([, name]) => name))).toEqual(new Set(names))
})

test('errors.md shows an actual error', () => {
  const [, example = ''] = /```json\n([^]*?)```/.exec(projectText('docs/reference/errors.md')) ?? []
  const { jsonRpcCode: code, reason } = errorKinds.timeout
  expect(JSON.parse(example)).toMatchObject({ error: { code, data: { reason } } })
})
