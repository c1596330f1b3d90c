// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Chain, ProbeCall } from '../chain/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { probe, type ProbeAnswer } from './probe.ts'
import { dialects } from './dialect.ts'
import { Cooldown } from './health.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { ScriptedTransport, type ScriptedAnswer } from './testing/scripted-transport.ts'
import { NodeUrl } from './node-url.ts'

let hub: Chain
beforeAll(async () => {
  const found = (await loadCatalog([])).find('HUBCHAIN')
  if (!found) throw new Error('the bundled specs lack HUBCHAIN')
  hub = found
})

const world = '/cosmos/base/tendermint/v1beta1/blocks/latest'
const neutral = '/sdk/base/tendermint/v1beta1/blocks/latest'
const block = { body: JSON.stringify({ block: { header: { height: '7' } } }) }
const notImplemented = {
  status: 501,
  body: JSON.stringify({ code: 12, message: 'Not Implemented', details: [] }),
}

/** A node with scripted answers per path, and the requests that it got. */
class PathNode {
  readonly clock = new VirtualClock()
  readonly requests: string[] = []
  readonly url: NodeUrl

  constructor(answers: Readonly<Record<string, ScriptedAnswer>>) {
    const transport = new ScriptedTransport(this.clock, ({ path }) => {
      this.requests.push(path)
      return answers[path] ?? { fault: 'protocol' }
    })
    const cooldown = new Cooldown(this.clock, seededRandom(1))
    this.url = new NodeUrl(nodeUrlConfig('http://node.test'), transport, cooldown)
  }

  async ask(): Promise<ProbeAnswer> {
    const question = hub.interfaces.get('rest')?.latestBlock as ProbeCall
    const answer = probe(this.url, question, {
      dialect: dialects.rest,
      failures: hub.failures,
      clock: this.clock,
      signal: new AbortController().signal,
    })
    await this.clock.advance(1_000)
    return answer
  }
}

test('a usual node gets one request', async () => {
  const node = new PathNode({ [world]: block })
  expect(await node.ask()).toMatchObject({ kind: 'value', value: '7' })
  expect(node.requests).toEqual([world])
})

test.each<[string, ScriptedAnswer]>([
  ['reports an unknown path', notImplemented],
  ['answers 404 with a page', { status: 404, body: '<html>' }],
  ['returns another document', { body: '{}' }],
])(
  'a node that %s is probed at another path, which later probes use first',
  async (_case, answer) => {
    const node = new PathNode({ [world]: answer, [neutral]: block })
    expect(await node.ask()).toMatchObject({ kind: 'value', value: '7' })
    expect(await node.ask()).toMatchObject({ kind: 'value', value: '7' })
    expect(node.requests).toEqual([world, neutral, neutral])
  },
)

test('a node that changes its path is found again', async () => {
  const answers = { [world]: notImplemented as ScriptedAnswer, [neutral]: block as ScriptedAnswer }
  const node = new PathNode(answers)
  await node.ask()
  Object.assign(answers, { [world]: block, [neutral]: notImplemented })
  expect(await node.ask()).toMatchObject({ kind: 'value' })
  expect(await node.ask()).toMatchObject({ kind: 'value' })
  expect(node.requests.slice(2)).toEqual([neutral, world, world])
})

test('a node without a known path yields the result of the first one', async () => {
  const node = new PathNode({ [world]: notImplemented, [neutral]: { status: 404, body: '' } })
  expect(await node.ask()).toMatchObject({ kind: 'refused' })
  expect(node.requests).toEqual([world, neutral])
})

test.each<[string, ScriptedAnswer, string]>([
  ['cannot be reached', { fault: 'refused' }, 'failed'],
  ['is rate limited', { status: 429, body: '' }, 'limited'],
])('a node that %s is not probed at another path', async (_case, answer, kind) => {
  const node = new PathNode({ [world]: answer })
  expect(await node.ask()).toMatchObject({ kind })
  expect(node.requests).toEqual([world])
})
