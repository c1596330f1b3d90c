// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadBundledSpecs, loadCatalog } from '../../proxy/chain/load-catalog.ts'
import { compileSpecs, readSpecSources } from './spec-sources.ts'
import { ValueCollector } from './value-collector.ts'

const bundled = await loadBundledSpecs()

/** Compiles the specs in a ConfigMap and other sources. */
function compiled(texts: Readonly<Record<string, string>>, ...others: readonly object[]) {
  const data = {
    secret: () => null,
    configMap: () => ({ keys: Object.keys(texts), get: (key: string) => texts[key] ?? null }),
  }
  const sources = [{ type: 'ConfigMap', configMap: { name: 'own' } }, ...others]
  const read = readSpecSources(
    sources as never,
    new ValueCollector(data, { metadata: { name: 'r', namespace: 'rpc' } }),
  )
  return compileSpecs(read, bundled)
}

const interfaces = 'interfaces: {jsonrpc: {methods: {a_b: {}}}}'

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
  ['no-block-time.yml', `id: A\n${interfaces}`],
  ['unknown-key.yml', 'id: A\nextends: ETH1\nblock-tim: 2s'],
  ['unknown-base.yml', 'id: A\nextends: ETH2'],
  ['circle.yml', 'id: A\nextends: A'],
  ['unknown-table.yml', 'id: A\nextends: ETH1\nfailures: [nothing]'],
  ['unknown-import.json', '{"proposal":{"specs":[{"index":"A","imports":["NOTHING"]}]}}'],
  ['deep.yml', '['.repeat(1_000_000)],
])('%s is refused with the message of the router', async (key, text) => {
  const { refusals, catalog } = compiled({ [key]: text })
  expect(catalog).toBeNull()
  await using folder = await mkdtempDisposable(join(tmpdir(), 'own-spec-'))
  const path = join(folder.path, key)
  await writeFile(path, text)
  const ofRouter: unknown = await loadCatalog([path]).catch((error: unknown) => error)
  const own = (message: string) => message.replaceAll(path, `the ConfigMap own, key ${key}`)
  expect(refusals.map(({ message }) => message).join('\n')).toBe(own((ofRouter as Error).message))
  for (const { field } of refusals) expect(field).toBe('spec.specSources[0].configMap')
})

test.each([
  ['a short spec', { 'a.yml': 'id: OURS\naliases: [OUR]\nextends: ETH1' }],
  ['two files', { 'a.yml': 'id: OURS\nextends: BASE', 'b.yml': 'id: BASE\nextends: ETH1' }],
  ['a spec beside a failure table', { 'a.yml': 'id: OURS\nextends: ETH1', 't.yml': 'failures: x' }],
])('the chain of a spec has everything that it extends: %s', (_, texts) => {
  const entries = Object.entries(texts).toReversed()
  const { refusals, catalog } = compiled(Object.fromEntries(entries))
  expect(refusals).toEqual([])
  const offered = catalog?.find('ours')?.interfaces.get('jsonrpc')
  expect(offered?.methods.has('eth_getBalance')).toBe(true)
  expect(offered?.addons.has('debug')).toBe(true)
})

test('beside a URL, specs that may extend its specs are not refused', () => {
  const url = { type: 'Url', url: 'https://git.example/specs.tar.gz' }
  const good = compiled({ 'a.yml': 'id: OURS\nextends: THEIRS' }, url)
  expect(good).toEqual({ refusals: [], catalog: null })
  expect(compiled({ 'a.yml': 'id: OURS\nblock-tim: 2s' }, url).refusals).toMatchObject([
    { message: expect.stringContaining('unknown key `block-tim`') },
  ])
})
