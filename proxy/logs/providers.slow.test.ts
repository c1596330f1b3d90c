// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { createSliceMemory } from './slices.ts'
import { addresses, type Limits, topics } from './testing/log-chain.ts'
import { LogsFixture } from './testing/logs-fixture.ts'

const hex = (number: number) => `0x${number.toString(16)}`
const upTo = (blocks: number, tooMany: NonNullable<Limits['tooMany']>) => ({ blocks, tooMany })

/** Limits and errors as real providers have them. */
const providers: Readonly<Record<string, Readonly<Record<string, Limits>>>> = {
  'round numbers': { a: { blocks: 10_000 }, b: { blocks: 5_000 }, c: { blocks: 2_000 } },
  gateways: {
    a: upTo(800, (most) => `range too large. Max range: ${most}`),
    b: upTo(1_000, (most) => `please limit the query to at most ${most} blocks`),
    c: upTo(3_000, (most) => `exceeds the range allowed for your plan (20000 > ${most})`),
  },
  'free plans': {
    a: upTo(
      10,
      (most, from) =>
        `You can make eth_getLogs requests with up to a ${most} block range. Based on your parameters, this block range should work: [${hex(from)}, ${hex(from + most - 1)}].`,
    ),
    b: upTo(5_000, (most) => `block range too large (20000), maximum allowed is ${most} blocks`),
    c: upTo(500, () => 'Block range limit exceeded. See docs'),
  },
  'no numbers': {
    a: upTo(1_500, () => 'Block range is too large'),
    b: upTo(900, () => 'limit exceeded for blocks'),
    c: upTo(7_000, () => 'block range is too wide'),
  },
  results: { a: { results: 1_000 }, b: { results: 2_000 } },
  'few results': { a: { results: 300 }, b: { results: 300 } },
}

const sizeOf = (ranges: readonly { readonly from: number; readonly to: number }[]) =>
  ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)

test.each([
  ['round numbers', 'off', 1.1],
  ['gateways', 'off', 1.1],
  ['free plans', 'off', 1.1],
  ['no numbers', 'off', 1.1],
  ['results', 'off', 1.1],
  ['few results', 'off', 1.1],
  ['round numbers', 'always', 2.1],
  ['gateways', 'always', 2.1],
  ['free plans', 'always', 2.1],
  ['no numbers', 'always', 2.1],
  ['results', 'always', 2.1],
  ['few results', 'always', 2.1],
] as const)(
  '%s, verify %s: blocks of requests to blocks of queries',
  async (name, verify, most) => {
    const options = { verify, memory: createSliceMemory(64_000_000), head: 500_000 }
    const fixture = new LogsFixture(providers[name] ?? {}, options)
    const filter = { address: addresses[0]!, topics: [null, topics[1]!] }
    for (let each = 0; each < 20; each++) {
      const [from, to] = [1 + each * 20_000, (each + 1) * 20_000]
      const { logs } = await fixture.ask(from, to, filter)
      expect(JSON.stringify(logs)).toBe(JSON.stringify(fixture.chain.logs(from, to, filter)))
    }
    const { answered, refused } = fixture.chain
    expect((sizeOf(answered) + sizeOf(refused)) / 400_000).toBeLessThanOrEqual(most)
  },
)
