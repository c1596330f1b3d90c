// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CacheFixture, type Question } from './testing/cache-fixture.ts'

/*
 * Schedules of blocks, reorgs and questions. Every block has an id, and every answer names its question and the block
 * that it is about, so that a foreign answer and one of a branch that is gone are known.
 */

const finalDepth = 150
const accounts = ['0x00000000000000000000000000000000000000aa', `0x${'Bb'.repeat(20)}`]

type Step =
  | { readonly kind: 'block' }
  /** The last blocks are others, and one more has come. */
  | { readonly kind: 'reorg'; readonly depth: number }
  /** The last block is another; a node shows it to whoever asks for it. */
  | { readonly kind: 'swap' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'ask'; readonly account: number; readonly depth: number | 'latest' | 'none' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ kind: 'block' } as const) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'swap' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.integer({ min: 1, max: 5_000 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      account: fc.nat(accounts.length - 1),
      depth: fc.oneof(
        fc.constantFrom('latest' as const, 'none' as const),
        fc.constantFrom(0, 1, 2, 3, finalDepth, finalDepth + 9),
      ),
    }),
  },
)

class World {
  ids = Array.from({ length: 400 }, (_, height) => height)
  #nextId = 1_000
  readonly cache: CacheFixture

  constructor() {
    const answering = ({ method, params }: Question) => {
      const [first, second] = params as [string, string?]
      if (method === 'eth_getBlockByNumber') return this.block(Number(first))
      const height = second === undefined || second === 'latest' ? this.head : Number(second)
      return this.answer(first, height)
    }
    this.cache = new CacheFixture(answering).heads(this.head)
  }

  get head(): number {
    return this.ids.length - 1
  }

  answer(account: string, height: number): string {
    return `0x${(this.ids[height] ?? 0).toString(16)}${account.slice(-2).toLowerCase()}`
  }

  block(height: number) {
    const hash = (at: number) => `0x${(this.ids[at] ?? 0).toString(16).padStart(64, '1')}`
    return { number: `0x${height.toString(16)}`, hash: hash(height), parentHash: hash(height - 1) }
  }

  replace(count: number): void {
    this.ids = [...this.ids.slice(0, this.ids.length - count)]
    for (let each = 0; each < count; each++) this.ids.push(this.#nextId++)
  }

  grow(): void {
    this.ids = [...this.ids, this.#nextId++]
    this.cache.heads(this.head)
  }
}

test('no answer is foreign, and none is of a branch that is known to be gone', async () => {
  let hits = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const world = new World()
      for (const each of steps) {
        if (each.kind === 'block') world.grow()
        else if (each.kind === 'wait') await world.cache.clock.advance(each.ms)
        else if (each.kind === 'reorg') {
          world.replace(each.depth)
          world.grow()
        } else if (each.kind === 'swap') {
          const params = [`0x${world.head.toString(16)}`, false]
          const directives = { refreshCache: true }
          await world.cache.get('eth_getBlockByNumber', params, { directives })
          world.replace(1)
          await world.cache.get('eth_getBlockByNumber', params, { directives })
        } else {
          const account = accounts[each.account]!
          const height = typeof each.depth === 'number' ? world.head - each.depth : world.head
          const at = typeof each.depth === 'number' ? `0x${height.toString(16)}` : 'latest'
          const params = each.depth === 'none' ? [account] : [account, at]
          const seen = await world.cache.get('eth_getBalance', params)
          expect(seen.answer).toBe(world.answer(account, height))
          if (seen.cache.startsWith('hit')) hits += 1
        }
      }
    }),
    { numRuns: Number(process.env['CACHE_RUNS'] ?? 300) },
  )
  expect(hits).toBeGreaterThan(100)
})
