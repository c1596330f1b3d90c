// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readOut } from '../testing/classified-chain.ts'
import { everyInterface } from '../testing/every-interface.ts'
import type { ChainInterface, Question } from '../types.ts'

const sources = ['../testdata/catalog', '../testdata/own-catalog']
const catalog = sources.map((folder) => fileURLToPath(new URL(folder, import.meta.url)))
const bundled = await everyInterface([])
const interfaces = [...bundled, ...(await everyInterface(catalog))].map(
  ({ chain, offered }) => [`${chain.id} ${offered.apiInterface}`, offered] as const,
)

const word = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    'latest',
    '0',
    '5',
    '99999999999999999999',
    '%2F',
    '%',
    '..',
    '__proto__',
    '0xAB',
  ),
  fc.nat().map(String),
)

/** Requests that resemble those of the interface, and unrelated ones. */
function questions(offered: ChainInterface): fc.Arbitrary<Question> {
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...offered.methods) },
    { weight: 1, arbitrary: word },
  )
  const header = fc
    .dictionary(fc.constantFrom(...offered.requestHeaders, 'x'), word, { maxKeys: 3 })
    .map((headers) => (key: string) => headers[key] ?? null)
  const { apiInterface } = offered
  if (apiInterface === 'grpc')
    return fc
      .record({ method: name, header, message: fc.uint8Array({ maxLength: 30 }) })
      .map((request) => ({ apiInterface, ...request }))
  if (apiInterface === 'rest')
    return fc
      .record({
        verb: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', ''),
        path: fc
          .tuple(name, fc.array(word, { minLength: 8, maxLength: 8 }))
          .map(([pattern, fill]) => {
            let at = 0
            return pattern.replaceAll(/\{[^}]*\}/g, () => fill[at++ % 8] as string)
          }),
        query: fc.oneof(
          word,
          fc.tuple(word, word).map(([key, value]) => `height=${value}&ledger_version=${key}`),
        ),
        header,
      })
      .map((request) => ({ apiInterface, ...request }))
  return fc
    .record({ method: name, params: fc.jsonValue({ maxDepth: 3 }) })
    .map((request) => ({ apiInterface, ...request }))
}

describe('any request of a client', () => {
  test.each(interfaces)('%s classifies without a throw and deterministically', (_name, offered) => {
    fc.assert(
      fc.property(questions(offered), (question) => {
        const before = JSON.stringify(question)
        const first = offered.classify(question)
        expect(readOut(offered.classify(question))).toEqual(readOut(first))
        expect(JSON.stringify(question)).toBe(before)
        expect(first.known).toBe(offered.methods.has(first.name) && first.known)
        if (first.block.kind === 'invalid') expect(first.cacheable).toBe(false)
        if (first.kind !== 'read') expect(first.cacheable).toBe(false)
      }),
      { numRuns: 150 },
    )
  })
})

/** Params that together trigger the checks of every method. */
const someParams = [[], ['0x5'], [`0x${'a'.repeat(64)}`], { height: '5' }]

describe('each method of a bundled spec', () => {
  test("that checks a block's parent also shows the block, from which the router learns parents", () => {
    const checked = bundled.flatMap(({ chain, offered }) => {
      const { apiInterface } = offered
      const questions = [...offered.methods].flatMap((method) => {
        if (apiInterface === 'grpc') return []
        const path = method.replaceAll(/\{[^}]*\}/g, '5')
        if (apiInterface === 'rest')
          return [
            offered.classify({ apiInterface, verb: 'GET', path, query: '', header: () => null }),
          ]
        return someParams.map((params) => offered.classify({ apiInterface, method, params }))
      })
      return questions
        .filter(({ block }) => block.kind !== 'invalid')
        .filter(({ checks }) => checks.some(({ rule }) => rule.check === 'parent'))
        .map(({ name, tellsTip, showsBlock }) => {
          const { hash, parent } = tellsTip ?? showsBlock ?? {}
          return [`${chain.id} ${name}`, Boolean(hash && parent)] as const
        })
    })
    expect(checked.filter(([, isShown]) => !isShown)).toEqual([])
    const names = checked.map(([name]) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        ...['ETH1 eth_getBlockByNumber', 'PERPEVM eth_getBlockByHash', 'BTC getblockheader'],
        ...['HUBCHAIN block_by_hash', 'HUBCHAIN commit'],
        'HUBCHAIN /sdk/base/tendermint/v1beta1/blocks/{height}',
      ]),
    )
  })

  test.each(bundled.map(({ chain, offered }) => [`${chain.id} ${offered.apiInterface}`, offered]))(
    '%s is classified under its own name',
    (_name, offered) => {
      const header = () => null
      for (const method of offered.methods) {
        const { apiInterface } = offered
        const questions =
          apiInterface === 'rest'
            ? ['GET', 'POST'].map((verb) =>
                offered.classify({ apiInterface, verb, path: method, query: '', header }),
              )
            : [
                apiInterface === 'grpc'
                  ? offered.classify({ apiInterface, method, header })
                  : offered.classify({ apiInterface, method, params: [] }),
              ]
        expect(
          questions.some((each) => each.known && each.name === method),
          method,
        ).toBe(true)
      }
    },
  )
})
