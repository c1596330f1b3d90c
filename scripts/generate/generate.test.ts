// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import {
  rpcRouterDefinition,
  upstreamProviderDefinition,
} from '../../operator/api/crd/definition.ts'
import { describeDrift } from './drift.ts'
import { renderCrds } from './render-crds.ts'
import { renderReferences } from './render-references.ts'

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'references-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('each module becomes a page in the format of prettier', async () => {
  const folder = folderWith({
    'b.ts': "export const render = () => '# B\\n* one'",
    'a.ts': "export const render = async () => '# A'",
    'a.test.ts': 'throw new Error()',
    'notes.md': '',
  })
  expect(await renderReferences(folder)).toEqual([
    { path: 'docs/reference/a.md', text: '# A\n' },
    { path: 'docs/reference/b.md', text: '# B\n\n- one\n' },
  ])
})

test('a module may have more pages in a separate folder', async () => {
  const folder = folderWith({
    'a.ts': `export const render = () => '# A'
      export const renderMore = async () => new Map([['a/x', '# X'], ['a/y', '# Y']])`,
  })
  const pages = await renderReferences(folder)
  expect(pages.map(({ path }) => path)).toEqual([
    'docs/reference/a.md',
    'docs/reference/a/x.md',
    'docs/reference/a/y.md',
  ])
})

test('the error names a module without render()', async () => {
  const folder = folderWith({ 'a.ts': 'export const page = 1' })
  await expect(renderReferences(folder)).rejects.toThrow(/a\.ts must export render\(\)/)
})

test('an up-to-date page has no drift', () => {
  expect(describeDrift('docs/x.md', 'a\nb\n', 'a\nb\n')).toBeNull()
})

test.each([
  ['missing', null, 'a\n', /^docs\/x\.md is missing$/],
  ['another line', 'a\nb\n', 'a\nc\n', /first at line 2:\n {2}is {9}b\n {2}should be {2}c$/],
  ['a missing line', 'a\n', 'a\nb\n', /line 2:\n {2}is {9}\n {2}should be {2}b$/],
  ['an additional line', 'a\nb\n', 'a\n', /line 2:\n {2}is {9}b\n {2}should be {2}$/],
  ['text after the end', 'a\n\nb', 'a\n', /line 3:\n {2}is {9}b\n {2}should be {2}\(nothing\)$/],
])('drift: %s', (_, found, wanted, described) => {
  expect(describeDrift('docs/x.md', found, wanted)).toMatch(described)
})

test('parsers of YAML 1.1, such as kubectl, read the same definitions', async () => {
  const read = (await renderCrds()).map(({ text }) => parse(text, { version: '1.1' }) as unknown)
  const definitions = [rpcRouterDefinition(), upstreamProviderDefinition()]
  const annotations = { 'rpcrouter.dev/version': packageJson.version }
  const versioned = definitions.map((definition) => ({
    ...definition,
    metadata: { ...definition.metadata, annotations },
  }))
  expect(read).toEqual(JSON.parse(JSON.stringify(versioned)))
})
