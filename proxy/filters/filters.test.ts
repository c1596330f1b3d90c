// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { Script, ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { RelayFixture, ethereum, nodeError, result } from '../relay/testing/relay-fixture.ts'
import { withFilters } from './filters.ts'

const { chain, iface } = await ethereum()

class FilterFixture extends RelayFixture {
  constructor(...args: ConstructorParameters<typeof RelayFixture>) {
    super(...args)
    this.relay = withFilters(this.relay, { chain, pool: this.pool })
  }
}

/** A node that knows only the filter that it created. */
function node(id: string): Script {
  return ({ body }) => {
    const { method, params } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
      method: string
      params: unknown[]
    }
    if (method.startsWith('eth_new')) return result(id)
    return params[0] === id ? result([id]) : nodeError(-32000, 'filter not found')
  }
}

function fixture(): RelayFixture {
  return new FilterFixture(chain, iface, {
    a: { script: node('0x1') },
    b: { script: node('0xb2cafe') },
    c: { script: node(`0x${'c'.repeat(32)}`) },
  })
}

async function idOf(relay: RelayFixture): Promise<string> {
  const { outcome } = await relay.ask({ method: 'eth_newBlockFilter', params: [] })
  return (JSON.parse(outcome) as { result: string }).result
}

describe('a filter', () => {
  it.each(['eth_getFilterChanges', 'eth_getFilterLogs', 'eth_uninstallFilter'])(
    'is read from the node that created it: %s',
    async (method) => {
      const relay = fixture()
      const own = ['0x1', '0xb2cafe', `0x${'c'.repeat(32)}`]
      for (const expected of own) {
        const id = await idOf(relay)
        expect(id).toMatch(/^0x[0-9a-f]+$/)
        // Another replica knows it as well.
        for (const each of [relay, fixture(), fixture()])
          expect((await each.ask({ method, params: [id] })).outcome).toBe(result([expected]).body)
      }
    },
  )

  it.each([
    ['is down', { fault: 'refused' }],
    ['breaks connections', { fault: 'reset' }],
  ] as const)(
    'is not found when its node %s, so that the client creates another',
    async (_, down) => {
      const relay = fixture()
      const id = await idOf(relay)
      relay.transport('a').play(() => down)
      const { outcome } = await relay.ask({ method: 'eth_getFilterChanges', params: [id] })
      expect([outcome, relay.sent['b'], relay.sent['c']]).toEqual(['filter-not-found', 0, 0])
    },
  )

  it.each(['0xa', '0xb2cafe'])(
    'has an id that survives a client that reads it as a number: %s',
    async (own) => {
      const nodes = Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [`node-${at}`, { script: node(own) }]),
      )
      const relay = new FilterFixture(chain, iface, nodes)
      for (const _ of Object.keys(nodes)) {
        const id = await idOf(relay)
        expect(`0x${BigInt(id).toString(16)}`).toBe(id)
      }
    },
  )

  it('of a removed upstream is not found', async () => {
    const relay = fixture()
    const request = { method: 'eth_getFilterChanges', params: ['0x80000000ab'] }
    expect((await relay.ask(request)).outcome).toBe('filter-not-found')
  })

  it("gets the node's own error when it has expired", async () => {
    const relay = fixture()
    const id = await idOf(relay)
    relay.transport('a').play(() => nodeError(-32000, 'filter not found'))
    const { outcome } = await relay.ask({ method: 'eth_getFilterChanges', params: [id] })
    expect(outcome).toBe(nodeError(-32000, 'filter not found').body)
  })

  it('with an id from elsewhere goes to any node', async () => {
    const { outcome } = await fixture().ask({ method: 'eth_getFilterChanges', params: ['0x1'] })
    expect(outcome).toBe(result(['0x1']).body)
  })

  it.each(['', '<html>Welcome</html>', '{"jsonrpc"', 'null'])(
    'without checks passes any answer of the node: %j',
    async (body) => {
      const nodes = { a: { script: () => ({ body }) } }
      const relay = new FilterFixture(chain, iface, nodes, { integrity: 'off' })
      const { outcome } = await relay.ask({ method: 'eth_newBlockFilter', params: [] })
      expect(outcome).toBe(body)
    },
  )
})

/** A chain with one log per block, on nodes that are up to date until they die. */
class GrowingChain {
  head = 100
  readonly relay: RelayFixture
  readonly #delivered = new Map<string, number>()

  constructor(names: readonly string[]) {
    const nodes = names.map((name) => [name, { script: this.#script(name) }] as const)
    this.relay = new FilterFixture(chain, iface, Object.fromEntries(nodes))
    this.grow(0)
  }

  /** @param isObserved whether the router observes the new head */
  grow(blocks: number, isObserved = true): void {
    this.head += blocks
    const { pool, clock } = this.relay
    if (isObserved)
      for (const each of pool.upstreams)
        pool.observeHead(each, this.head, clock.nowMs(), each.urls[0]!)
  }

  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const { outcome } = await this.relay.ask({ method, params })
    if (!outcome.startsWith('{')) return outcome
    const answer = JSON.parse(outcome) as { result?: unknown; error?: unknown }
    return answer.error ?? answer.result
  }

  #script(name: string): Script {
    return ({ body }) => {
      const { method, params } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
        method: string
        params: [string & { fromBlock: string; toBlock?: string }]
      }
      const [param] = params
      const { head } = this
      switch (method) {
        case 'eth_newFilter':
        case 'eth_newBlockFilter':
        case 'eth_newPendingTransactionFilter':
          this.#delivered.set(`0x${name}1${method.length}`, head)
          return result(`0x${name}1${method.length}`)
        case 'eth_getFilterChanges': {
          const from = this.#delivered.get(param)
          if (from === undefined) return nodeError(-32000, 'filter not found')
          this.#delivered.set(param, head)
          const isOfLogs = param.endsWith(String('eth_newFilter'.length))
          return result(isOfLogs ? logsOf(from + 1, head) : hashesOf(from + 1, head))
        }
        case 'eth_uninstallFilter':
          return result(this.#delivered.delete(param))
        case 'eth_blockNumber':
          return result(`0x${head.toString(16)}`)
        case 'eth_getBlockByNumber':
          return result({ number: param, ...headerOf(Number(param)) })
        case 'eth_getLogs':
          return result(logsOf(Number(param.fromBlock), Number(param.toBlock ?? head)))
        default:
          return nodeError(-32601, `no ${method}`)
      }
    }
  }

  forget(): void {
    this.#delivered.clear()
  }
}

function hashOf(block: number): string {
  return `0x${block.toString(16).padStart(64, '0')}`
}

function headerOf(block: number) {
  return { hash: hashOf(block), parentHash: hashOf(block - 1) }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

function hashesOf(from: number, to: number): string[] {
  return range(from, to).map(hashOf)
}

const address = '0x00000000000000000000000000000000000000aa'

function logsOf(from: number, to: number) {
  return range(from, to).map((block) => ({
    address,
    topics: [],
    data: '0x',
    blockNumber: `0x${block.toString(16)}`,
    blockHash: hashOf(block),
    transactionHash: hashOf(block + 1_000_000),
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  }))
}

const reset: ScriptedAnswer = { fault: 'reset' }

const troubles: readonly (readonly [string, ScriptedAnswer])[] = [
  ['hangs', { hang: true }],
  ['refuses connections', { fault: 'refused' }],
  ['breaks connections', reset],
  ['returns error pages', { status: 502, body: '<html>Bad gateway</html>' }],
]

describe.each(troubles)('when a node %s', (_, answer) => {
  it.each([
    ['eth_newFilter', [{ address }]],
    ['eth_newBlockFilter', []],
    ['eth_newPendingTransactionFilter', []],
  ])('a filter is created at another: %s', async (method, params) => {
    const growing = new GrowingChain(['a', 'b', 'c'])
    growing.relay.transport('a').play(() => answer)
    const { outcome, upstream, tookMs } = await growing.relay.ask({ method, params })
    expect([outcome, upstream]).toEqual([expect.stringContaining('"result":"0x'), 'b'])
    expect(tookMs).toBeLessThan(3_000)
    const { result: id } = JSON.parse(outcome) as { result: string }
    growing.grow(1)
    expect(await growing.ask('eth_getFilterChanges', id)).toHaveLength(1)
  })

  it.each([
    ['eth_getFilterLogs', logsOf(90, 100) as unknown],
    ['eth_uninstallFilter', true],
  ])('another node answers %s of a log filter', async (method, expected) => {
    const growing = new GrowingChain(['a', 'b', 'c'])
    const id = await growing.ask('eth_newFilter', { address, fromBlock: '0x5a' })
    growing.relay.transport('a').play(() => answer)
    const { outcome, tookMs } = await growing.relay.ask({ method, params: [id] })
    expect((JSON.parse(outcome) as { result: unknown }).result).toEqual(expected)
    expect(tookMs).toBeLessThan(6_000)
  })
})

describe('a filter is created', () => {
  it('at another node after an unknown error', async () => {
    const relay = fixture()
    relay.transport('a').play(() => nodeError(-32000, 'the moon is in the wrong house'))
    const { outcome, upstream } = await relay.ask({ method: 'eth_newFilter', params: [{}] })
    expect([outcome, upstream]).toEqual([expect.stringContaining('"result":"0x'), 'b'])
  })

  it('at another URL of its upstream after a broken connection', async () => {
    const urls = { urls: [{}, {}], otherScripts: [node('0x1')] }
    const a = { script: () => reset, ...urls }
    const relay = new FilterFixture(chain, iface, { a })
    expect(await idOf(relay)).toMatch(/^0x/)
  })

  it('at no more nodes than a read may try', async () => {
    const relay = new FilterFixture(
      chain,
      iface,
      Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { script: () => reset }])),
    )
    const { outcome } = await relay.ask({ method: 'eth_newFilter', params: [{}] })
    expect([outcome, relay.sent]).toEqual(['upstream-failed', { a: 1, b: 1, c: 1, d: 0 }])
  })
})

const deaths: Readonly<Record<string, (growing: GrowingChain) => void>> = {
  refuses: ({ relay }) => relay.transport('a').play(() => ({ fault: 'refused' })),
  hangs: ({ relay }) => relay.transport('a').play(() => ({ hang: true })),
  'returns error pages': ({ relay }) =>
    relay.transport('a').play(() => ({ status: 502, body: '<html>Bad gateway</html>' })),
  forgets: (growing) => growing.forget(),
}

describe.each(Object.entries(deaths))('a filter whose node %s', (_, die) => {
  it.each([
    ['eth_newFilter', [{ address }], (from: number, to: number) => logsOf(from, to) as unknown],
    ['eth_newBlockFilter', [], hashesOf],
  ] as const)('continues from the last block delivered: %s', async (method, params, between) => {
    const growing = new GrowingChain(['a', 'b', 'c'])
    const id = await growing.ask(method, ...params)
    const polled = async () => growing.ask('eth_getFilterChanges', id)
    growing.grow(2)
    // The node has blocks that the router has not observed, and they are delivered too.
    growing.grow(1, false)
    expect(await polled()).toEqual(between(101, 103))
    growing.grow(2)
    die(growing)
    growing.grow(1)
    expect(await polled()).toEqual(between(104, 106))
    expect(await polled()).toEqual([])
    growing.grow(1)
    expect(await polled()).toEqual(between(107, 107))
    expect(await growing.ask('eth_uninstallFilter', id)).toBe(true)
  })
})

describe('a filter whose node is gone', () => {
  it('catches up in steps after a long pause', async () => {
    const growing = new GrowingChain(['a', 'b'])
    const id = await growing.ask('eth_newFilter', { address })
    growing.relay.transport('a').play(() => ({ fault: 'refused' }))
    for (let each = 0; each < 150; each++) {
      await growing.relay.clock.advance(120_000)
      growing.grow(10)
    }
    const polled = async () => (await growing.ask('eth_getFilterChanges', id)) as unknown[]
    expect([(await polled()).length, (await polled()).length]).toEqual([1_000, 500])
  })

  it.each([
    ['eth_newPendingTransactionFilter', []],
    ['eth_newFilter', [{ address, toBlock: '0x6e' }]],
  ])('is not found when no other node can replace it: %s', async (method, params) => {
    const growing = new GrowingChain(['a', 'b'])
    const id = await growing.ask(method, ...params)
    growing.relay.transport('a').play(() => ({ fault: 'refused' }))
    growing.grow(1)
    expect(await growing.ask('eth_getFilterChanges', id)).toBe('filter-not-found')
  })

  it('returns all logs of its range at another node', async () => {
    const growing = new GrowingChain(['a', 'b'])
    const id = await growing.ask('eth_newFilter', { address, fromBlock: '0x60', toBlock: 'latest' })
    growing.relay.transport('a').play(() => ({ fault: 'refused' }))
    await growing.ask('eth_getFilterLogs', id)
    const [sent] = growing.relay.transport('b').requests.slice(-1)
    expect(JSON.parse(sent!)).toMatchObject({
      method: 'eth_getLogs',
      params: [{ address, fromBlock: '0x60', toBlock: 'latest' }],
    })
  })
})
