// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareByStore } from './shared-cache.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { CacheFixture, type Question } from './testing/cache-fixture.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'

/*
 * Random schedules of blocks, reorgs and requests at one replica, or at two that share a store.
 * Every answer contains its request and the id of its block, so that the test recognizes mixed-up
 * answers and those of an abandoned branch.
 */

const runs = Number(process.env['CACHE_RUNS'] ?? 300)
const finalDepth = 150
const accounts = ['0x00000000000000000000000000000000000000aa', `0x${'Bb'.repeat(20)}`]

type Step =
  /** Replaces the last `depth` blocks and adds one. Only some replicas learn about it. */
  | { readonly kind: 'block'; readonly depth: number; readonly who: readonly number[] }
  /** Replaces the last block, which a node returns on request. */
  | { readonly kind: 'swap'; readonly who: readonly number[] }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'store'; readonly isDown: boolean; readonly isMute: boolean }
  /** Replicas of the request. */
  | {
      readonly kind: 'ask'
      readonly account: number
      readonly depth: number | 'latest' | 'none'
      readonly who: readonly number[]
    }

const who = fc.constantFrom([0, 1], [0], [1])
const step = (replicas: number): fc.Arbitrary<Step> => {
  const kind = (weight: number, name: Step['kind'], more: object) => ({
    ...{ weight, arbitrary: fc.record({ kind: fc.constant(name), ...more }) },
  })
  return fc.oneof(
    kind(2, 'block', { depth: fc.constant(0), who }),
    kind(1, 'block', { depth: fc.integer({ min: 1, max: 5 }), who }),
    kind(1, 'swap', { who: fc.constantFrom([0], [1]) }),
    kind(2, 'wait', { ms: fc.integer({ min: 1, max: 5_000 }) }),
    kind(replicas - 1, 'store', { isDown: fc.boolean(), isMute: fc.boolean() }),
    kind(8, 'ask', {
      account: fc.nat(accounts.length - 1),
      depth: fc.oneof(
        fc.constantFrom('latest' as const, 'none' as const),
        fc.constantFrom(0, 1, 2, 3, finalDepth, finalDepth + 9),
      ),
      who,
    }),
  ) as fc.Arbitrary<Step>
}

class World {
  /** IDs of the blocks, now and at all earlier times. */
  readonly #times = [Array.from({ length: 400 }, (_, height) => height)]
  #nextId = 1_000
  readonly #clock = new VirtualClock()
  readonly keys = new FakeKeys(this.#clock)
  readonly replicas: readonly CacheFixture[]
  /** Earliest valid time of answers per replica. */
  readonly #since: number[]

  constructor(count: number) {
    const answering = ({ method, params }: Question) => {
      const [first, second] = params as [string, string?]
      if (method === 'eth_getBlockByNumber') return this.#block(Number(first))
      return this.#answer(
        first,
        second === undefined || second === 'latest' ? null : Number(second),
      )
    }
    const shared = () => shareByStore(this.keys)
    this.replicas = Array.from({ length: count }, () =>
      new CacheFixture(answering, count > 1 ? { shared: shared() } : {}).heads(this.head),
    )
    this.#since = this.replicas.map(() => 0)
  }

  get #ids(): readonly number[] {
    return this.#times.at(-1)!
  }

  get head(): number {
    return this.#ids.length - 1
  }

  /** @param height null for the latest block */
  #answer(account: string, height: number | null, ids = this.#ids): string {
    const id = ids[height ?? ids.length - 1] ?? 0
    return `0x${id.toString(16)}${account.slice(-2).toLowerCase()}`
  }

  /** Valid answers of a replica. */
  answers(replica: number, account: string, height: number | null): readonly string[] {
    const times = this.#times.slice(this.#since[replica])
    return times.map((ids) => this.#answer(account, height, ids))
  }

  #block(height: number) {
    const hash = (at: number) => `0x${(this.#ids[at] ?? 0).toString(16).padStart(64, '1')}`
    return { number: `0x${height.toString(16)}`, hash: hash(height), parentHash: hash(height - 1) }
  }

  replace(count: number, more: number): void {
    const added = Array.from({ length: count + more }, () => this.#nextId++)
    this.#times.push([...this.#ids.slice(0, this.#ids.length - count), ...added])
  }

  /** Reveals the current state to these replicas. */
  saw(who: readonly number[]): void {
    for (const each of who) this.#since[each] = this.#times.length - 1
  }

  async swap(replica: number): Promise<void> {
    const params = [`0x${this.head.toString(16)}`, false]
    const look = () => this.get([replica], 'eth_getBlockByNumber', params, true)
    await look()
    this.replace(1, 0)
    const { announced } = this.keys
    await look()
    const isTold = this.keys.announced > announced
    this.saw(isTold ? this.replicas.map((_, each) => each) : [replica])
  }

  /** Sends requests to replicas at the same time. Advances the clock until all have answered. */
  async get(who: readonly number[], method: string, params: readonly unknown[], isFresh = false) {
    const directives = { refreshCache: isFresh }
    const pending = Promise.all(
      who.map((each) => this.replicas[each]!.start(method, params, { directives })),
    )
    let isOver = false
    void pending.then(() => (isOver = true))
    for (let each = 0; each < 100_000 && !isOver; each++) await this.advance(1)
    return pending
  }

  async advance(ms: number): Promise<void> {
    for (const { clock } of [{ clock: this.#clock }, ...this.replicas]) await clock.advance(ms)
  }
}

test.each([
  ['one replica', 1],
  ['two that share a store', 2],
])(
  'no answer is mixed up or of a known abandoned branch: %s',
  async (_, count) => {
    let hits = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step(count), { minLength: 5, maxLength: 60 }), async (steps) => {
        const world = new World(count)
        const those = (all: readonly number[]) => (count === 1 ? [0] : all)
        for (const each of steps) {
          if (each.kind === 'wait') await world.advance(each.ms)
          else if (each.kind === 'store') Object.assign(world.keys, each)
          else if (each.kind === 'swap') await world.swap(those(each.who)[0]!)
          else if (each.kind === 'block') {
            world.replace(each.depth, 1)
            for (const replica of those(each.who)) world.replicas[replica]!.heads(world.head)
            world.saw(those(each.who))
          } else {
            const account = accounts[each.account]!
            const height = typeof each.depth === 'number' ? world.head - each.depth : null
            const at = height === null ? 'latest' : `0x${height.toString(16)}`
            const params = each.depth === 'none' ? [account] : [account, at]
            const seen = await world.get(those(each.who), 'eth_getBalance', params)
            for (const [index, { answer, cache }] of seen.entries()) {
              expect(world.answers(those(each.who)[index]!, account, height)).toContain(answer)
              if (cache.startsWith('hit')) hits += 1
            }
          }
        }
      }),
      { numRuns: runs },
    )
    expect(hits).toBeGreaterThan(100)
  },
  60_000 + 5 * runs,
)
