// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { loadCatalog } from './load-catalog.ts'
import { ownIds } from './testing/own-ids.ts'

const fixtures = fileURLToPath(new URL('testdata/catalog', import.meta.url))
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'specs-'))
})
afterEach(() => rm(folder, { recursive: true }))

const write = async (name: string, text: string) => {
  const path = join(folder, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
  return path
}

const spec = (id: string, name = 'A chain') => `id: ${id}
name: ${name}
family: other
block-time: 1s
allowed-lag: 1
finality: latest
interfaces: { jsonrpc: { methods: { m: { block: none } } } }
`

/** A chain in the public catalog's format. */
const foreign = (index: string, imports: readonly string[] = []) => ({
  index,
  name: index.toLowerCase(),
  enabled: true,
  imports,
  average_block_time: 1_000,
  allowed_block_lag_for_qos_sync: 1,
  block_distance_for_finalized_data: 0,
  api_collections: [],
})
const proposal = (...specs: readonly object[]) => JSON.stringify({ proposal: { specs } }, null, 1)

describe('the sources', () => {
  it('are the bundled specs by default', async () => {
    const catalog = await loadCatalog([])
    expect(catalog.find('ETH1')?.name).toBe('Ethereum Mainnet')
    expect(catalog.find('ethereum')?.id).toBe('ETH1')
  })

  it('extend or replace any bundled spec', async () => {
    const own = `id: DEVNET
extends: ETH1
name: Our development network
block-time: 2s
interfaces:
  jsonrpc:
    verifications:
      chain-id: { expected: '0x7a69' }
`
    const catalog = await loadCatalog([await write('a.yml', own)])
    expect(ownIds(catalog)).toEqual(['DEVNET'])
    expect(catalog.find('DEVNET')?.interfaces.get('jsonrpc')?.methods).toContain('eth_getLogs')
    expect(catalog.find('BTC')?.interfaces.get('jsonrpc')?.methods).toContain('getblockcount')
  })

  it('may be the bundled specs themselves', async () => {
    const [bundled, again] = [await loadCatalog([]), await loadCatalog(['specs'])]
    expect(again.ids).toEqual(bundled.ids)
    expect(ownIds(again)).toEqual(again.ids)
  })

  /** Names in a config, mapped to the names of the chains they select. */
  type Found = Readonly<Record<string, string | undefined>>
  const named = (id: string, name: string, aliases = '[]') =>
    `${spec(id, name)}aliases: ${aliases}\n`
  test.each<[string, readonly (readonly string[])[], Found]>([
    [
      'an own id replaces a bundled one',
      [[named('eth1', 'own')]],
      { ETH1: 'own', ethereum: undefined },
    ],
    [
      'an own id wins over a bundled alias',
      [[named('SOLANA', 'own')]],
      { solana: 'own', SLOTCHAIN: 'Solana' },
    ],
    [
      'an own alias wins over a bundled id',
      [[named('X', 'own', '[BTC]')]],
      { BTC: 'own', X: 'own' },
    ],
    [
      'an own alias wins over a bundled alias',
      [[named('X', 'own', '[ethereum]')]],
      { ETHEREUM: 'own', ETH1: 'Ethereum Mainnet' },
    ],
    ['within a source an id wins', [[named('A', 'a', '[B]'), named('B', 'b')]], { A: 'a', B: 'b' }],
    [
      'a later source wins',
      [[named('ETH1', 'first')], [named('ETH1', 'second')]],
      { ETH1: 'second' },
    ],
    ['a later alias wins', [[named('A', 'first')], [named('B', 'second', '[A]')]], { A: 'second' }],
    [
      'a changed chain keeps its aliases',
      [['id: ETH1\nextends: ETH1\nname: changed\n']],
      { ETH1: 'changed', ethereum: 'changed', SEP1: 'Ethereum Sepolia' },
    ],
    [
      'a chain that extends one has other aliases',
      [['id: X\nextends: ETH1\nname: own\n']],
      { X: 'own', ethereum: 'Ethereum Mainnet' },
    ],
  ])('%s', async (_, sources, found) => {
    const paths = sources.map(async (texts, source) => {
      await Promise.all(texts.map((text, at) => write(`${source}/${at}.yml`, text)))
      return join(folder, `${source}`)
    })
    const catalog = await loadCatalog(await Promise.all(paths))
    const names = Object.keys(found).map((name) => [name, catalog.find(name)?.name])
    expect(Object.fromEntries(names)).toEqual(found)
    const { ids } = catalog
    expect(ids.map((id) => catalog.find(id)?.id)).toEqual(ids)
  })

  it('override earlier ones', async () => {
    const first = await write('1.yml', spec('A', 'first'))
    const second = await write('2.yml', spec('a', 'second'))
    expect((await loadCatalog([first, second])).find('A')?.name).toBe('second')
    expect((await loadCatalog([second, first])).find('A')?.name).toBe('first')
  })

  it('may mix formats, and a native spec may extend a catalog spec', async () => {
    const own = await write('own.yml', 'id: MINE\nextends: BASE\nname: My own\n')
    const catalog = await loadCatalog([fixtures, own])
    expect(catalog.find('MINE')?.interfaces.get('jsonrpc')?.methods.has('eth_call')).toBe(true)
  })

  it('may layer a native spec over another of the same id', async () => {
    const own = await write('own.yml', 'id: ETH1\nextends: ETH1\nblock-time: 7s\n')
    const catalog = await loadCatalog([fixtures, own])
    expect(catalog.find('ETH1')?.blockTimeMs).toBe(7_000)
    // Imports within the catalog still use the chain of the catalog.
    expect(catalog.find('BASE')?.interfaces.size).toBe(1)
  })

  it('are read with subdirectories, skipping files that are not specs', async () => {
    await write('deep/er/a.yaml', spec('A'))
    await write('package.json', '{"name":"x"}')
    await write('.github/ci.yml', 'jobs: {}\n')
    await write('.hidden.yml', 'id: [')
    await write('node_modules/x/b.yml', spec('B'))
    await write('readme.md', 'no spec')
    expect(ownIds(await loadCatalog([folder]))).toEqual(['A'])
  })

  it('may be links, as in a mounted ConfigMap', async () => {
    await write('..data/a.yml', spec('A'))
    await symlink(join(folder, '..data', 'a.yml'), join(folder, 'a.yml'))
    expect(ownIds(await loadCatalog([folder]))).toEqual(['A'])
  })

  it('may add failure rows before the bundled ones', async () => {
    const rows = `failures: evm
node-errors:
  - { name: mine, origin: upstream, message: [moon], examples: [{ message: moon, from: us }] }
`
    const own = await write('evm.yml', rows)
    const table = (await loadCatalog([fixtures, own])).find('ETH1')?.failures
    const error = (message: string) => ({ status: 200, code: -32000, message })
    expect(table?.ofNodeError(error('the moon')).name).toBe('mine')
    expect(table?.ofNodeError(error('nonce too low')).name).toBe('nonce-too-low')
    expect(table?.ofTransport('refused').weight).toBe(2)
  })
})

describe('an unusable source', () => {
  test.each<[string, () => Promise<string>, string]>([
    ['a missing file', async () => join(folder, 'no.yml'), 'no.yml: does not exist.'],
    [
      'a name that no file can have',
      async () => join(folder, 'x'.repeat(300)),
      'cannot be read: name too long',
    ],
    ['an empty directory', async () => folder, 'there is no chain spec here.'],
    ['an empty file', () => write('a.yml', ''), 'a.yml:'],
    ['a file that is no spec', () => write('a.yml', 'hello: world\n'), 'unknown key `hello`'],
    ['a list', () => write('a.yml', '- 1\n'), 'must be a map with `id` and `interfaces`'],
    ['broken JSON', () => write('a.json', '{"proposal": {'), 'a.json:'],
    ['broken YAML in a directory', async () => (await write('a.yml', 'a: ['), folder), 'a.yml:'],
    ['an alias bomb', () => write('a.yml', aliasBomb()), 'Excessive alias count'],
    ['a long file', () => write('a.yml', `# ${'x'.repeat(9 * 2 ** 20)}`), 'is longer than 8 MiB.'],
    ['a device', async () => '/dev/zero', 'is no file'],
    [
      'a catalog spec without an id',
      () => write('a.json', proposal({ name: 'x' })),
      'a.json:4: proposal.specs[0].index: is missing.',
    ],
    [
      'a missing import',
      () => write('a.json', proposal(foreign('A', ['ETH2']), foreign('ETH1'))),
      'there is no chain `ETH2`. Did you mean `ETH1`?',
    ],
    [
      'an import loop',
      () =>
        write('a.json', proposal(foreign('A', ['B']), foreign('B', ['C']), foreign('C', ['A']))),
      'imports: forms a cycle: A -> B -> C -> A.',
    ],
    [
      'an import of itself',
      () => write('a.json', proposal(foreign('A', ['A']))),
      'imports: forms a cycle: A -> A.',
    ],
  ])('%s', async (_case, source, expected) => {
    await expect(loadCatalog([await source()])).rejects.toThrow(expected)
  })

  it('is reported with the line of the import', async () => {
    const path = await write('a.json', proposal(foreign('A', ['NOPE'])))
    await expect(loadCatalog([path])).rejects.toMatchObject({
      name: 'SpecError',
      code: 'RPC_SPEC',
      message: expect.stringContaining(`${path}:8: proposal.specs[0].imports: `),
    })
  })

  it('is reported together with all others', async () => {
    const missing = join(folder, 'no.yml')
    const wrong = await write('a.yml', spec('A').replace('other', 'elvish'))
    await expect(loadCatalog([missing, wrong])).rejects.toMatchObject({
      problems: [
        { message: expect.stringContaining(missing) },
        { message: expect.stringContaining(`${wrong}:3:`) },
      ],
    })
  })
})

function aliasBomb(): string {
  const levels = Array.from({ length: 9 }, (_, at) => {
    const before = at === 0 ? '"x"' : `*l${at - 1}`
    return `l${at}: &l${at} [${Array(9).fill(before).join(', ')}]`
  })
  return `${levels.join('\n')}\nid: A\n`
}
