// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { DirectSecp256k1HdWallet } from '@cosmjs/proto-signing'
import { coin, GasPrice, SigningStargateClient } from '@cosmjs/stargate'
import { beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../processes/wait-until.ts'
import { hubAccounts, hubDenomination, startHub } from '../hub-chain.ts'
import type { WasmdNode } from '../wasmd.ts'
import { openGround } from './ground.ts'
import { hubFacts } from './hub-facts.ts'
import { QueryEar, type ToldEvent } from './query-ear.ts'
import { routeTo } from './routed.ts'

const ground = await openGround()
const blockMs = 700
const toldWithinMs = 30_000
const nobody = 'wasm1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqel32wk'

/** How many of three transactions a node tells of: a transfer, one that fails, an undelegation. */
const queries: [string, number | 'refused'][] = [
  ["tm.event='Tx'", 3],
  ["tm.event='Tx'AND tx.height>0", 3],
  ["tm.event='Tx' AND tx EXISTS", 3],
  ["tm.event='Tx' AND tx.height>0.5", 3],
  ["tm.event='Tx' AND unbond EXISTS", 1],
  ["tm.event='Tx' AND unbond.completion_time EXISTS", 1],
  ["tm.event='Tx' AND unbond.completion_time > TIME 2020-01-01T00:00:00Z", 1],
  ["tm.event='Tx' AND unbond.completion_time < TIME 2020-01-01T00:00:00Z", 0],
  ["tm.event='Tx' AND unbond.completion_time >= DATE 2020-01-01", 0],
  ["tm.event='Tx' AND unbond.amount = 5", 1],
  ["tm.event='Tx' AND transfer.recipient > 0", 0],
  ["tm.event='Tx' AND transfer.sender >= 0", 0],
  [`tm.event='Tx' AND transfer.recipient='${nobody}' AND transfer.amount=7`, 1],
  ["tm.event='Tx' AND transfer.amount = 9007199254740992", 0],
  ["tm.event='Tx' AND tx.height > '5'", 'refused'],
  ["tm.event='Tx' AND transfer.amount CONTAINS 5", 'refused'],
  ["tm.event='Tx' AND transfer.amount = -5", 'refused'],
  ["tm.event='Tx' AND transfer.amount = 1.2.3", 'refused'],
  ["tm.event='Tx' AND tx.height>.5", 'refused'],
  ["tm.event='Tx' AND x.y > TIME yesterday", 'refused'],
  ["tm.event='Tx' AND x.y = DATE 2020-13-45", 'refused'],
  ["tm.event='Tx' AND x.y EXISTS AND", 'refused'],
  ["tm.event='Tx' AND (tx.height>0)", 'refused'],
  [`tm.event='Tx' AND message.action='${'x'.repeat(600)}'`, 'refused'],
  ['', 'refused'],
]

let node: WasmdNode
let viaSocket: string
let viaPolling: string
beforeAll(async () => {
  node = await startHub(ground, { name: 'hub', blockMs })
  const { name, tendermintUrl, webSocketUrl } = node
  const route = async (urls: readonly string[]) => {
    const nodes = [{ name, urls: urls.map((url) => ({ url })) }]
    const leg = { chainId: 'HUBCHAIN', apiInterface: 'tendermintrpc', nodes } as const
    const { urls: listeners } = await routeTo(ground, [leg])
    return `${listeners[0]!.replace('http', 'ws')}/websocket`
  }
  viaSocket = await route([tendermintUrl, webSocketUrl])
  viaPolling = await route([tendermintUrl])
})

test('transactions are told of and refused as by the node, and blocks made in its form', async () => {
  using ears = new DisposableStack()
  const listen = async (url: string, query: string) => ears.use(await QueryEar.open(url, query))
  const pairs = await Promise.all(
    queries.map(async ([query, wanted]) => {
      const both = await Promise.all(
        [node.webSocketUrl, viaSocket].map((url) => listen(url, query)),
      )
      return { query, wanted, both }
    }),
  )
  const made = await Promise.all(
    ['NewBlock', 'NewBlockHeader', 'Tx'].map((name) =>
      Promise.all([node.webSocketUrl, viaPolling].map((url) => listen(url, `tm.event='${name}'`))),
    ),
  )
  await sendAll()
  const [[, blocks] = [], , [, transactions] = []] = made
  const enough = (blocks?.told.length ?? 0) + 3
  await waitUntil('all is told, and blocks after it', toldWithinMs, ground.signal, () => {
    const hasAll = pairs.every(({ wanted, both }) =>
      both.every(({ told }) => wanted === 'refused' || told.length >= wanted),
    )
    const areMade = transactions?.told.length === 3 && (blocks?.told.length ?? 0) >= enough
    return Promise.resolve(hasAll && areMade)
  })
  for (const { query, wanted, both } of pairs) {
    const code = wanted === 'refused' ? -32_603 : null
    expect(
      both.map(({ errorCode }) => errorCode),
      query,
    ).toEqual([code, code])
    const count = wanted === 'refused' ? 0 : wanted
    expect(
      both.map(({ told }) => told.length),
      query,
    ).toEqual([count, count])
    const [direct, routed] = both
    expect(routed?.told, query).toEqual(direct?.told)
  }
  for (const [direct, polled] of made) {
    const told = new Map(direct?.told.map((event) => [placeOf(event), event]))
    const common = polled?.told.filter((event) => told.has(placeOf(event))) ?? []
    expect(common.length).toBeGreaterThanOrEqual(3)
    expect(common).toEqual(common.map((event) => told.get(placeOf(event))))
  }
})

/** A transfer, one that fails for want of coins, and an undelegation, each in a block of its own. */
async function sendAll(): Promise<void> {
  const wallet = await DirectSecp256k1HdWallet.fromMnemonic(hubAccounts.user, { prefix: 'wasm' })
  const signer = await SigningStargateClient.connectWithSigner(node.tendermintUrl, wallet, {
    gasPrice: GasPrice.fromString(`0${hubDenomination}`),
    broadcastPollIntervalMs: 100,
  })
  const { user, operator } = await hubFacts(node)
  const send = (amount: number) =>
    signer.sendTokens(
      user,
      nobody,
      [coin(amount, hubDenomination)],
      { amount: [], gas: '200000' },
      amount === 7 ? '<a&b> "q" \u2028 é' : '',
    )
  expect((await send(7)).code).toBe(0)
  expect((await send(9_000_000_000_000_000)).code).not.toBe(0)
  const { code } = await signer.undelegateTokens(user, operator, coin(5, hubDenomination), 'auto')
  expect(code).toBe(0)
  signer.disconnect()
}

function placeOf({ data: { value } }: ToldEvent): string {
  const { height, index = 0 } = value['TxResult'] ?? value['header'] ?? value['block'].header
  return `${height}/${index}`
}
