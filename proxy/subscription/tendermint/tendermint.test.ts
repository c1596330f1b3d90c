// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { tendermintFamily } from './tendermint.ts'
import { SubscriptionFixture, type FixtureOptions } from '../testing/subscription-fixture.ts'
import type { TestSocket } from '../testing/test-socket.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const attribute = (key: string, value: string) => ({ key, value, index: true })

/** Every block has two transactions, which pay 5 and 6 to an address derived from the height. */
class Heights {
  head = 10
  isOld = false

  block(height: number) {
    const header = { chain_id: 'hub', height: String(height) }
    const txs = [base64(`${height}/0`), base64(`${height}/1`)]
    return { block_id: { hash: `H${height}` }, block: { header, data: { txs } } }
  }

  results(height: number) {
    const txs_results = [5, 6].map((amount) => this.result(height, amount))
    const updates = { validator_updates: null, consensus_param_updates: null }
    const common = { height: String(height), txs_results, ...updates }
    const mint = this.event('mint', { amount: '7' })
    return this.isOld
      ? { ...common, begin_block_events: [mint], end_block_events: null }
      : { ...common, finalize_block_events: [mint], app_hash: 'aa' }
  }

  /** A result with all its empty fields, as in a list. */
  result(height: number, amount: number) {
    const events = [this.transfer(height, amount), this.event('message', {})]
    const texts = { data: null, log: '', info: '', codespace: '' }
    return { code: 0, ...texts, gas_wanted: '0', gas_used: '70000', events }
  }

  transfer(height: number, amount: number) {
    return this.event('transfer', { recipient: `to${height}`, amount: `${amount}uatom` })
  }

  event(type: string, attributes: Record<string, string>) {
    return {
      type,
      attributes: Object.entries(attributes).map(([key, value]) =>
        this.isOld ? attribute(base64(key), base64(value)) : attribute(key, value),
      ),
    }
  }

  answer(method: string, params: { readonly height: string }): unknown {
    const height = Number(params.height)
    if (method === 'status') return { sync_info: { latest_block_height: String(this.head) } }
    if (height > this.head) return undefined
    return method === 'block' ? this.block(height) : this.results(height)
  }

  /** A header as a node pushes it. */
  pushed(height: number): string {
    const { header } = this.block(height).block
    const data = { type: 'tendermint/event/NewBlockHeader', value: { header } }
    const events = { 'tm.event': ['NewBlockHeader'] }
    return JSON.stringify({ query: "tm.event='NewBlockHeader'", data, events })
  }
}

async function setUp(options: Partial<FixtureOptions> = {}) {
  const heights = new Heights()
  const fixture = await SubscriptionFixture.create({
    chainId: 'HUBCHAIN',
    apiInterface: 'tendermintrpc',
    family: tendermintFamily,
    answer: (method, params: never) => heights.answer(method, params),
    ...options,
  })
  const { one, two } = fixture.sockets
  return { heights, fixture, one: one as TestSocket, two: two as TestSocket }
}

/** Parses an event without its query, as the client sees it. */
const whole = (text: string) => JSON.parse(`{${text}}`) as { data: any; events: any }
const subscribed = (query: string) => ({ query })

test('headers pass unchanged, and missed ones come first', async () => {
  const { heights, fixture, one, two } = await setUp()
  const client = await fixture.join('subscribe', subscribed("tm.event = 'NewBlockHeader'"))
  heights.head = 11
  one.push(heights.pushed(11))
  one.push(heights.pushed(11))
  await fixture.clock.advance(0)
  expect(client.texts.map((text) => `{"query":"tm.event='NewBlockHeader'",${text}}`)).toEqual([
    heights.pushed(11),
  ])
  one.cut()
  heights.head = 14
  await fixture.clock.advance(100)
  two.push(heights.pushed(14))
  await fixture.clock.advance(100)
  const sent = client.texts.map((text) => whole(text).data.value.header.height as string)
  expect(sent).toEqual(['11', '12', '13', '14'])
  // An event rebuilt from a block equals the one from a node.
  expect(whole(client.texts[1] as string)).toEqual(
    (({ data, events }) => ({ data, events }))(JSON.parse(heights.pushed(12)) as never),
  )
})

test('missed blocks are rebuilt as a node of that version would send them', async () => {
  const { heights, fixture, one, two } = await setUp()
  const client = await fixture.join('subscribe', subscribed("tm.event='NewBlock'"))
  heights.head = 11
  one.cut()
  await fixture.clock.advance(1_000)
  heights.isOld = true
  heights.head = 12
  two.cut()
  await fixture.clock.advance(6_000)
  heights.isOld = false
  const [current, old] = client.texts.map(whole)
  expect(current).toEqual({
    data: {
      type: 'tendermint/event/NewBlock',
      value: {
        ...heights.block(11),
        result_finalize_block: {
          events: [{ type: 'mint', attributes: [attribute('amount', '7')] }],
          tx_results: [5, 6].map((amount) => heights.result(11, amount)),
          validator_updates: [],
          app_hash: 'aa',
        },
      },
    },
    events: { 'mint.amount': ['7'], 'tm.event': ['NewBlock'] },
  })
  expect(old?.data.value.result_begin_block.events[0].attributes[0].key).toBe(base64('amount'))
  expect(old?.data.value.result_end_block).toEqual({ validator_updates: [] })
  expect(old?.events).toEqual({
    [`mint.${base64('amount')}`]: [base64('7')],
    'tm.event': ['NewBlock'],
  })
})

test('transactions are live: the query goes to the node, which evaluates it', async () => {
  const { fixture, one, two } = await setUp()
  const query = "tm.event='Tx' AND transfer.recipient = 'me'"
  const client = await fixture.join('subscribe', subscribed(query))
  const event = (height: number) => `"data":{"height":"${height}"},"events":{}`
  one.push(`{"query":"of the node",${event(11)}}`)
  one.cut()
  await fixture.clock.advance(2_000)
  two.push(`{"query":"of the node",${event(12)}}`)
  expect(client.texts).toEqual([event(11), event(12)])
  expect(two.requests).toContain(`subscribe ${JSON.stringify({ query })}`)
})
