// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, readdirSync } from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import { bundledChains } from './bundled-chains.generated.ts'
import { readOwnSpec } from './spec-sources.ts'

const specs = join(import.meta.dirname, '../../specs')
const files = readdirSync(specs, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yml'))
  .map((key) => [key, readFileSync(join(specs, key), 'utf8')] as const)

test.each(files)('%s of the image would do as a spec of the user', (key, text) => {
  expect(readOwnSpec({ key, text }).fault).toBeNull()
})

test('all names of the chains of the image are found in their specs', () => {
  const found = files.flatMap(([key, text]) => {
    const spec = readOwnSpec({ key, text })
    return spec.fault === null ? (spec.chains ?? []) : []
  })
  const names = bundledChains.flatMap(([id, aliases]) => [id, ...aliases])
  expect(found.toSorted()).toEqual([...new Set(names)].toSorted())
})

test.each([
  ['broken.yml', 'id: [garbage: {'],
  ['word.yml', 'hello'],
  ['list.yml', '- id: A'],
  ['nameless.yml', 'interfaces: {}'],
  ['map.yml', 'id: { a: b }'],
  ['empty-id.yml', "id: ''"],
  ['comment.yml', '# nothing'],
  ['two.yml', 'id: A\n---\nid: B'],
  ['yaml.json', 'id: A'],
  ['alias-of-nothing.yml', 'id: *a'],
])('%s is refused, and the router would not start with it either', async (key, text) => {
  expect(readOwnSpec({ key, text }).fault).not.toBeNull()
  await using folder = await mkdtempDisposable(join(tmpdir(), 'own-spec-'))
  await writeFile(join(folder.path, key), text)
  await expect(loadCatalog([join(folder.path, key)])).rejects.toThrow()
})

test.each([
  ['a list of the public catalog', 'proposal: { specs: [] }', null],
  ['keys from elsewhere', 'x: &x { id: A }\n<<: *x', null],
  ['an id from elsewhere', 'name: &a A\nid: *a', ['A']],
  ['aliases from elsewhere', 'id: A\nname: &a B\naliases: [*a]', ['A', 'B']],
  ['a failure table', 'failures: ours\nrows: []', []],
])('%s: its chains are %j', (_, text, chains) => {
  expect(readOwnSpec({ key: 'a.yml', text })).toEqual({ fault: null, chains })
})

test('what nests without end is refused, and not followed', () => {
  for (const text of ['['.repeat(1_000_000), '- '.repeat(500_000), 'a: '.repeat(300_000)])
    expect(readOwnSpec({ key: 'a.yml', text }).fault).toContain('cannot be read')
})
