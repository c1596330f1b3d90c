// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { AskedChain } from '../chain/testing/asked-chain.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { payment, paymentId } from './integrity/testing/bitcoin-blocks.ts'
import { firstSignature } from './integrity/solana-transaction.ts'
import { solanaTransaction } from './integrity/testing/solana-transaction.ts'
import { RelayFixture, nodeError, result, type Asked } from './testing/relay-fixture.ts'

/** What a node answers, by the method and what it is asked about. */
type Node = Readonly<Record<string, ScriptedAnswer>>

function relayOf(
  asked: AskedChain,
  apiInterface: 'jsonrpc' | 'tendermintrpc',
  nodes: readonly Node[],
) {
  const upstreams = nodes.map((node, at) => {
    const script = ({ body }: { body: unknown }) => {
      const { method, params } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
        method: string
        params: unknown
      }
      const answer = node[`${method} ${JSON.stringify(params)}`] ?? node[method]
      if (!answer) throw new Error(`nobody expects ${method} ${JSON.stringify(params)}`)
      return answer
    }
    return [`node-${at}`, { script }] as const
  })
  const { chain } = asked
  const iface = chain.interfaces.get(apiInterface)!
  return new RelayFixture(chain, iface, Object.fromEntries(upstreams as never))
}

const slots = await AskedChain.load('SLOTCHAIN')
const btc = await AskedChain.load('BTC')
const hub = await AskedChain.load('HUBCHAIN')

describe('a transaction of Solana that is sent again', () => {
  const wire = solanaTransaction({})
  const signature = firstSignature(wire.toString('base64'))!
  const asked: Asked = {
    method: 'sendTransaction',
    params: [wire.toString('base64'), { encoding: 'base64' }],
  }
  const processed = nodeError(
    -32_002,
    'Transaction simulation failed: This transaction has already been processed',
  )
  const status = `getSignatureStatuses [["${signature}"],{"searchTransactionHistory":true}]`
  const shown = result({
    context: { slot: 500 },
    value: [{ slot: 400, confirmations: null, err: null, confirmationStatus: 'finalized' }],
  })
  const failed = result({ context: { slot: 500 }, value: [{ slot: 400, err: 'AccountInUse' }] })
  const none = result({ context: { slot: 500 }, value: [null] })
  const stale = nodeError(-32_002, 'Transaction simulation failed: Blockhash not found')

  it.each([
    ['that was processed', [{ sendTransaction: processed, [status]: shown }]],
    ['that was processed and failed', [{ sendTransaction: processed, [status]: failed }]],
    [
      'that another node no longer takes',
      [{ sendTransaction: stale }, { sendTransaction: processed, [status]: shown }],
    ],
    [
      'that one of two shows',
      [
        { sendTransaction: processed, [status]: none },
        { sendTransaction: { ...processed, afterMs: 50 }, [status]: shown },
      ],
    ],
  ] as const)('gets its signature: one %s', async (_name, nodes) => {
    const relay = relayOf(slots, 'jsonrpc', nodes)
    expect((await relay.ask(asked)).outcome).toBe(result(signature).body)
  })

  it.each([
    ['that no node shows', [{ sendTransaction: processed, [status]: none }], processed],
    [
      'that no node shows and one refuses',
      [
        { sendTransaction: processed, [status]: none },
        { sendTransaction: stale, [status]: none },
      ],
      stale,
    ],
  ] as const)("gets the node's own words: one %s", async (_name, nodes, told) => {
    const relay = relayOf(slots, 'jsonrpc', nodes)
    expect((await relay.ask({ ...asked, params: [wire.toString('base64')] })).outcome).toBe(
      told.body,
    )
  })

  it('is not named by another signature', async () => {
    const other = firstSignature(solanaTransaction({ first: 1 }).toString('base64'))!
    const nodes = [{ sendTransaction: result(other) }, { sendTransaction: result(signature) }]
    const relay = relayOf(slots, 'jsonrpc', nodes)
    expect((await relay.ask(asked)).outcome).toBe(result(signature).body)
  })

  it('is believed to be what a node says where it is in no form that is known', async () => {
    const unknown = solanaTransaction({ version: 1 }).toString('base64')
    const relay = relayOf(slots, 'jsonrpc', [{ sendTransaction: result(signature) }])
    const seen = await relay.ask({ ...asked, params: [unknown] })
    expect(seen.outcome).toBe(result(signature).body)
  })
})

describe('a transaction of Bitcoin that is sent again', () => {
  const asked: Asked = { method: 'sendrawtransaction', params: [payment] }
  const inChain = nodeError(-27, 'Transaction outputs already in utxo set')
  const waiting = nodeError(-26, `TX rejected: already have transaction in mempool ${paymentId}`)
  const mined = nodeError(-26, 'TX rejected: transaction already exists in blockchain')
  const noIndex = nodeError(
    -5,
    'No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries. Use gettransaction for wallet transactions.',
  )
  const whole = result({ txid: paymentId, hex: payment, confirmations: 3 })
  const output = (index: number) => `gettxout ["${paymentId}",${index}]`
  const unspent = result({ bestblock: 'ab'.repeat(32), confirmations: 3, value: 10 })

  it.each([
    ['in a block', { sendrawtransaction: inChain, getrawtransaction: whole }],
    ['that waits at btcd', { sendrawtransaction: waiting, getrawtransaction: whole }],
    ['in a block of btcd', { sendrawtransaction: mined, getrawtransaction: whole }],
    [
      'in a block, without an index',
      { sendrawtransaction: inChain, getrawtransaction: noIndex, [output(0)]: unspent },
    ],
    [
      'of which the first output is spent',
      {
        sendrawtransaction: inChain,
        getrawtransaction: noIndex,
        [output(0)]: result(null),
        [output(1)]: unspent,
      },
    ],
  ] as const)('gets its id: one %s', async (_name, node) => {
    const relay = relayOf(btc, 'jsonrpc', [node])
    const seen = await relay.ask(asked)
    expect(seen.outcome).toBe(result(paymentId).body)
    expect(relay.events).toEqual([])
  })

  it.each([
    ['shows another', { getrawtransaction: result({ txid: 'ab'.repeat(32) }) }],
    ['shows nothing', { getrawtransaction: noIndex }],
  ] as const)("gets the node's own words when it %s", async (_name, node) => {
    const nodes = [{ sendrawtransaction: inChain, gettxout: result(null), ...node }]
    const relay = relayOf(btc, 'jsonrpc', nodes)
    expect((await relay.ask(asked)).outcome).toBe(inChain.body)
  })

  it('asks no more of a node that is in trouble', async () => {
    const nodes = [{ sendrawtransaction: inChain, getrawtransaction: { fault: 'reset' } }] as const
    const relay = relayOf(btc, 'jsonrpc', nodes)
    expect([(await relay.ask(asked)).outcome, relay.sent]).toEqual([inChain.body, { 'node-0': 2 }])
  })

  it('is not named by another id', async () => {
    const nodes = ['ab'.repeat(32), paymentId].map((id) => ({ sendrawtransaction: result(id) }))
    const relay = relayOf(btc, 'jsonrpc', nodes)
    expect((await relay.ask(asked)).outcome).toBe(result(paymentId).body)
  })
})

describe('a transaction of Tendermint that is sent again', () => {
  const tx = Buffer.from('a transaction')
  const digest = createHash('sha256').update(tx).digest()
  const hash = digest.toString('hex').toUpperCase()
  const inCache = nodeError(-32_603, 'Internal error: tx already exists in cache')
  const shown = result({ hash, height: '5', index: 0, tx: tx.toString('base64') })
  const unknown = nodeError(-32_603, `Internal error: tx (${hash}) not found`)
  const byHash = `tx {"hash":"${digest.toString('base64')}"}`
  const accepted = result({ code: 0, data: '', log: '', codespace: '', hash })

  it.each(['broadcast_tx_sync', 'broadcast_tx_async'])('gets its hash by %s', async (method) => {
    const relay = relayOf(hub, 'tendermintrpc', [{ [method]: inCache, [byHash]: shown }])
    for (const params of [[tx.toString('base64')], { tx: tx.toString('base64') }])
      expect((await relay.ask({ method, params })).outcome).toBe(accepted.body)
  })

  it.each([
    ['while it waits', tx.toString('base64'), { [byHash]: unknown }],
    // In the style of URIs a text is its own bytes, and `0x` begins one in hex.
    ['when it is in another form', `0x${tx.toString('hex')}`, { tx: unknown }],
  ])("gets the node's own words %s", async (_name, sent, node) => {
    const nodes = [{ broadcast_tx_sync: inCache, ...node }]
    const relay = relayOf(hub, 'tendermintrpc', nodes)
    const seen = await relay.ask({ method: 'broadcast_tx_sync', params: { tx: sent } })
    expect(seen.outcome).toBe(inCache.body)
  })

  it("gets the words of who knows it while it waits, not another's", async () => {
    const poor = result({ code: 13, data: '', log: 'insufficient fee', codespace: 'sdk', hash })
    const nodes = [
      { broadcast_tx_sync: inCache, tx: unknown },
      { broadcast_tx_sync: poor, tx: unknown },
    ]
    const relay = relayOf(hub, 'tendermintrpc', nodes)
    const params = { tx: tx.toString('base64') }
    expect((await relay.ask({ method: 'broadcast_tx_sync', params })).outcome).toBe(inCache.body)
  })

  it('is believed to be what a node says', async () => {
    const other = result({ code: 0, data: '', log: '', codespace: '', hash: 'AB'.repeat(32) })
    const relay = relayOf(hub, 'tendermintrpc', [{ broadcast_tx_sync: other }])
    const params = { tx: tx.toString('base64') }
    expect((await relay.ask({ method: 'broadcast_tx_sync', params })).outcome).toBe(other.body)
  })
})
