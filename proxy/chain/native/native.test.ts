// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import { SpecError } from '../document.ts'
import { ownIds } from '../testing/own-ids.ts'
import type { ChainCatalog } from '../types.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'specs-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function load(...texts: readonly string[]): Promise<ChainCatalog> {
  await Promise.all(texts.map((text, at) => writeFile(join(folder, `spec${at}.yml`), text)))
  return loadCatalog([folder])
}

async function problemsOf(...texts: readonly string[]): Promise<string[]> {
  try {
    await load(...texts)
  } catch (error) {
    if (!(error instanceof SpecError)) throw error
    return error.message.replaceAll(`${folder}/`, '').split('\n')
  }
  return []
}

const head = `id: TEST
name: Test
family: evm
block-time: 2s
allowed-lag: 5
finality: 10
`
const interfaces = `interfaces:
  jsonrpc:
    methods:
      eth_call: { block: { param: 1, default: latest } }
`

describe('a native spec', () => {
  it("is compiled with the format's defaults", async () => {
    const chain = (await load(head + interfaces)).find('test')
    expect(chain).toMatchObject({
      id: 'TEST',
      blockTimeMs: 2_000,
      allowedLagBlocks: 5,
      finality: 10,
    })
    const method = chain?.interfaces
      .get('jsonrpc')
      ?.classify({ apiInterface: 'jsonrpc', method: 'eth_call', params: [{}] })
    expect(method).toMatchObject({ kind: 'read', cost: 10, cacheable: true, deterministic: true })
  })

  it.each([
    ['everywhere on EVM', 'evm', '', true],
    ['nowhere in another family', 'bitcoin', '', false],
    ['everywhere, set by the method', 'other', ', any-case-hex: true', true],
    ['nowhere, set by the method', 'evm', ', any-case-hex: false', false],
  ])('says where hex may have any case: %s', async (_, family, key, expected) => {
    const methods = `interfaces: { jsonrpc: { methods: { m: { block: none${key} } } } }\n`
    const chain = (await load(head.replace('evm', family) + methods)).find('TEST')
    const question = { apiInterface: 'jsonrpc', method: 'm', params: [] } as const
    const { anyCaseHex } = chain!.interfaces.get('jsonrpc')!.classify(question)
    expect(anyCaseHex).toEqual(expected)
  })

  it('is found by its aliases, an id taking precedence', async () => {
    const other = head.replace('TEST', 'OTHER')
    const catalog = await load(`${head}aliases: [mine, OTHER]\n${interfaces}`, other + interfaces)
    expect(catalog.find('MINE')?.id).toBe('TEST')
    expect(catalog.find('other')?.id).toBe('OTHER')
    expect(ownIds(catalog)).toEqual(['TEST', 'OTHER'])
  })

  it('extends a spec from any file, listing only differences', async () => {
    const base = `${head}${interfaces}    verifications:
      chain-id: { method: eth_chainId, expected: '0x1' }
    add-ons: { debug: { methods: { debug_x: { block: none } } } }
`
    const child = `id: CHILD
extends: test
block-time: 1s
interfaces:
  jsonrpc:
    without: [debug_x]
    verifications: { chain-id: { expected: '0x2' } }
    methods: { eth_new: { block: none, kind: write } }
`
    const catalog = await load(child, base)
    const found = catalog.find('CHILD')
    expect(found).toMatchObject({ name: 'Test', blockTimeMs: 1_000, allowedLagBlocks: 5 })
    const own = found?.interfaces.get('jsonrpc')
    expect([...(own?.methods ?? [])]).toEqual(['eth_call', 'eth_new'])
    expect(own?.verifications).toMatchObject([{ expected: '0x2' }])
    expect(own?.verifications[0]?.call.body).toContain('eth_chainId')
    expect(catalog.find('TEST')?.interfaces.get('jsonrpc')?.methods.has('debug_x')).toBe(true)
  })

  it('knows its own and inherited verifications that it never runs by name', async () => {
    const verifications = `    unasked-verifications: [pruning]
    verifications: { chain-id: { method: eth_chainId } }
`
    const child = `id: CHILD
extends: TEST
interfaces: { jsonrpc: { unasked-verifications: [version] } }
`
    const catalog = await load(child, `${head}${interfaces}${verifications}`)
    const own = catalog.find('CHILD')?.interfaces.get('jsonrpc')
    expect(own?.verifications.map(({ name }) => name)).toEqual(['chain-id'])
    expect([...(own?.verificationNames ?? [])]).toEqual(['chain-id', 'pruning', 'version'])
  })

  it('can describe REST paths and gRPC methods', async () => {
    const catalog = await load(`${head.replace('evm', 'cosmos')}interfaces:
  rest:
    block-headers: [x-height]
    latest-block: { path: /blocks/latest, result: [height] }
    methods:
      'GET /blocks/latest': { block: latest }
      'GET /blocks/{height}': { block: { path-parameter: height } }
      'GET /accounts/{id}': { block: { query: version, default: latest } }
      'GET /supply': { block: latest }
      'POST /txs': { kind: write, block: none }
  grpc:
    block-headers: [x-height]
    methods:
      a.b.Query/Supply: { block: latest }
`)
    const header = (name: string) => (name === 'x-height' ? '9' : null)
    const rest = catalog.find('TEST')?.interfaces.get('rest')
    const ask = (verb: string, path: string, query = '') =>
      rest?.classify({ apiInterface: 'rest', verb, path, query, header })
    expect(ask('GET', '/blocks/latest')?.name).toBe('/blocks/latest')
    expect(ask('GET', '/blocks/5')?.block).toEqual({ kind: 'number', number: 5 })
    expect(ask('GET', '/blocks/5/')?.block).toEqual({ kind: 'number', number: 5 })
    expect(ask('GET', '/blocks/')?.known).toBe(false)
    expect(ask('GET', '/accounts/a', 'version=7')?.block).toEqual({ kind: 'number', number: 7 })
    expect(ask('GET', '/accounts/a')?.block).toEqual({ kind: 'tag', tag: 'latest' })
    expect(ask('GET', '/supply')?.block).toEqual({ kind: 'number', number: 9 })
    expect(ask('POST', '/txs')?.kind).toBe('write')
    expect(ask('GET', `/${'x/'.repeat(10_000)}`)?.known).toBe(false)
    const grpc = catalog.find('TEST')?.interfaces.get('grpc')
    const method = grpc?.classify({ apiInterface: 'grpc', method: 'a.b.Query/Supply', header })
    expect(method?.block).toEqual({ kind: 'number', number: 9 })
  })
})

describe('an invalid native spec', () => {
  const method = (text: string) => `${head}interfaces:
  jsonrpc:
    methods:
      m: ${text}
`
  test.each<[string, string, string]>([
    [
      'an unknown key',
      `${head}${interfaces}blok-time: 1s\n`,
      'spec0.yml:11: blok-time: unknown key `blok-time`. Did you mean `block-time`?',
    ],
    [
      'an unknown key of no likeness',
      `${head}${interfaces}zzzzzz: 1\n`,
      'Known keys: id, extends, aliases',
    ],
    [
      'a key of a method',
      method('{ block: none, kost: 5 }'),
      'spec0.yml:10: interfaces.jsonrpc.methods.m.kost: unknown key `kost`. Did you mean `cost`?',
    ],
    [
      'a key of a block',
      method('{ block: { parm: 1 } }'),
      'unknown key `parm`. Did you mean `param`?',
    ],
    [
      'a kind',
      method('{ block: none, kind: reed }'),
      'must be one of read, write, subscribe, local.',
    ],
    [
      'a place of the block that is none',
      method('{ block: latest, shows-block: unnamd }'),
      'must be `unnamed`, or name a place in the result',
    ],
    [
      'no block',
      method('{ cost: 5 }'),
      'interfaces.jsonrpc.methods.m.block: is missing. It must be none, latest',
    ],
    [
      'an invalid block',
      method('{ block: sometimes }'),
      'must be none, latest, pending, safe, finalized, earliest, or a place',
    ],
    [
      'a block without a place',
      method('{ block: { default: latest } }'),
      'must locate the block in exactly one way',
    ],
    [
      'half a range',
      method('{ block: { param: 0, from: fromBlock } }'),
      'must have `from` and `to` together',
    ],
    [
      'a cost of zero',
      method('{ block: none, cost: 0 }'),
      'interfaces.jsonrpc.methods.m.cost: must be at least 1.',
    ],
    [
      'a duration',
      head.replace('2s', '2 seconds') + interfaces,
      'spec0.yml:4: block-time: must be a duration such as 400ms, 12s or 1m30s.',
    ],
    [
      'a number as text',
      `${head.replace('allowed-lag: 5', 'allowed-lag: five')}${interfaces}`,
      'spec0.yml:5: allowed-lag: must be a number, not text.',
    ],
    [
      'an interface',
      head + interfaces.replace('jsonrpc', 'soap'),
      'interfaces.soap: unknown key `soap`. Known keys: jsonrpc, rest, tendermintrpc, grpc.',
    ],
    [
      'no interface',
      head,
      'spec0.yml:1: interfaces: is missing. A chain needs at least one of jsonrpc, rest, tendermintrpc, grpc.',
    ],
    [
      'no family',
      head.replace('family: evm\n', '') + interfaces,
      'family: is missing. A chain that extends no other must have `family`.',
    ],
    [
      'a REST path without a verb',
      `${head}interfaces: { rest: { methods: { /x: { block: none } } } }\n`,
      'is no name of a rest method. Write the verb and the path',
    ],
    [
      'a verification without a question',
      `${head}${interfaces}    verifications: { chain-id: { expected: '0x1' } }\n`,
      'names no request. Give a `method`',
    ],
    [
      'a method twice',
      `${head}${interfaces}    add-ons: { debug: { methods: { eth_call: { block: none } } } }\n`,
      'is named twice in this interface.',
    ],
    [
      'an unknown method to omit',
      `${head}${interfaces}    without: [eth_nope]\n`,
      'spec0.yml:11: interfaces.jsonrpc.without[0]: there is no method `eth_nope` to leave out.',
    ],
    [
      'a failure table',
      `${head}failures: [evm, evn]\n${interfaces}`,
      'spec0.yml:7: failures[1]: there is no failure table `evn`. Known tables: aptos,',
    ],
    [
      'a chain that it extends',
      `id: A\nextends: ETH2\ninterfaces: {}\n`,
      'spec0.yml:2: extends: there is no chain `ETH2`.',
    ],
    ['broken YAML', `${head}  - x: [\n`, 'spec0.yml:'],
    [
      'a key twice',
      `${head}id: TWICE\n${interfaces}`,
      'spec0.yml:7: is not YAML: Map keys must be unique',
    ],
    [
      'an id with a slash',
      head.replace('TEST', 'a/b') + interfaces,
      'spec0.yml:1: id: must be 1 to 64 letters, digits, - or _.',
    ],
  ])('%s', async (_case, text, expected) => {
    const problems = await problemsOf(text)
    expect(problems.join('\n')).toContain(expected)
  })

  it('is reported with all problems of all files', async () => {
    const problems = await problemsOf(
      head.replace('2s', 'x') + interfaces,
      head.replace('TEST', 'OTHER').replace('evm', 'elvish') + interfaces,
      `${head.replace('TEST', 'THIRD')}kost: 1\n${interfaces}`,
    )
    expect(problems).toHaveLength(3)
    expect(problems.map((each) => each.slice(0, 11))).toEqual([
      'spec0.yml:4',
      'spec1.yml:3',
      'spec2.yml:7',
    ])
  })

  it('is reported once when its form is broken, however many errors result', async () => {
    const problems = await problemsOf('id: TEST\ninterfaces: [{:\n  a: b: c\n  d: e: f\n')
    expect(problems).toEqual([expect.stringMatching(/^spec0.yml:\d: is not YAML: /)])
  })

  it('is reported when its base extends it', async () => {
    const problems = await problemsOf(
      'id: A\nextends: B\n',
      'id: B\nextends: C\n',
      'id: C\nextends: A\n',
    )
    expect(problems).toEqual([
      'spec0.yml:2: extends: forms a cycle: A -> B -> C -> A.',
      'spec1.yml:2: extends: forms a cycle: B -> C -> A -> B.',
      'spec2.yml:2: extends: forms a cycle: C -> A -> B -> C.',
    ])
  })

  it('is reported when a chain is defined twice', async () => {
    const problems = await problemsOf(head + interfaces, head.replace('TEST', 'test') + interfaces)
    expect(problems.join()).toContain('spec1.yml: chain `test` is also in')
  })
})
