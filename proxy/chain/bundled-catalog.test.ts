// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { bundledCatalog } from './bundled-catalog.ts'
import { loadCatalog, specsOver } from './load-catalog.ts'
import { readSource, type SpecFile } from './sources.ts'

const source = await readSource('specs')
const whole = specsOver(source).catalog

/** The bundled specs as a build writes them. */
const built = source.files.map(({ file, text }) => ({
  file: file.replace(/yml$/, 'json'),
  text: JSON.stringify(parse(text, { merge: true })),
}))
const ofJson = bundledCatalog(built, (files) => specsOver({ ...source, files }).catalog)

test.each([
  ['YAML', await loadCatalog([])],
  ['JSON', ofJson],
])('in %s, each chain is what it is among all', (_, catalog) => {
  expect(catalog.ids).toEqual(whole.ids)
  for (const id of whole.ids) {
    const expected = whole.find(id)!
    const found = catalog.find(id)!
    expect(JSON.stringify(found)).toBe(JSON.stringify(expected))
    expect([...found.interfaces.values()].map(({ methods }) => methods)).toEqual(
      [...expected.interfaces.values()].map(({ methods }) => methods),
    )
    for (const name of [id.toLowerCase(), ...expected.aliases])
      expect(catalog.find(name), name).toBe(found)
  }
})

it('parses what a chain needs, once', () => {
  const parsed: (readonly SpecFile[])[] = []
  const catalog = bundledCatalog(source.files, (some) => {
    parsed.push(some)
    return specsOver({ ...source, files: some }).catalog
  })
  expect(catalog.find('base')?.id).toBe('BASE')
  expect(catalog.find('BASE')?.name).toBe('Base')
  expect(catalog.find('NOPE')).toBeNull()
  const names = parsed.map((files) => files.map(({ file }) => file.replace(/^specs\//, '')))
  const tables = ['failures/common.yml', 'failures/evm.yml']
  expect(names).toEqual([['base.yml', 'optimism.yml', 'eth1.yml', ...tables]])
})

it('classifies errors by the tables of the chain', async () => {
  const bundled = await loadCatalog([])
  const error = { status: 200, code: 24, message: 'Block not found' }
  expect(bundled.find('STRK')?.failures.ofNodeError(error).name).toBe('block-not-found')
  const unsupported = 'QUANTITY not supported, just support TAG as latest'
  const ofTron = { status: 200, code: -32602, message: unsupported }
  expect(bundled.find('TRX')?.failures.ofNodeError(ofTron).name).toBe('state-unsupported')
})
