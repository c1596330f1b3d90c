// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { askBtcd, startBtcdPair } from '../btcd.ts'
import { compare } from '../byte-equality.ts'
import { type GoodParams, jsonRpcCalls } from '../json-rpc-calls.ts'
import { spendReward } from './bitcoin-transaction.ts'
import { quickPrograms } from '../build/go-programs.ts'
import { openGround } from './ground.ts'
import { routeJsonRpc } from './routed.ts'
import { answeredOverHttp, specOf } from './spec-methods.ts'

const ground = await openGround(quickPrograms)

/** Methods that stop the node, or change its state or its peers. */
const never = new Set([
  ...['stop', 'generate', 'generateblock', 'generatetoaddress', 'generatetodescriptor'],
  ...['setgenerate', 'invalidateblock', 'reconsiderblock', 'node', 'addnode', 'disconnectnode'],
  ...['setban', 'clearbanned', 'setnetworkactive', 'debuglevel', 'logging', 'ping'],
])
/** Methods with counters or times in their answers. */
const restless =
  /"(?:getnettotals|getpeerinfo|getinfo|getmininginfo|getnetworkhashps|getblocktemplate|uptime|getblockchaininfo|createrawtransaction|getmempoolinfo)"/

test('the router returns answers of btcd byte for byte', async () => {
  const [node, peer] = await startBtcdPair(ground)
  await peer.child.stop()
  const upstream = {
    url: node.url,
    'auth-config': { 'auth-headers': { authorization: node.authorization } },
  }
  const router = await routeJsonRpc(ground, 'BTC-REGTEST', node.name, upstream)

  const hash = (height: number) => askBtcd<string>(node, 'getblockhash', [height])
  const blocks = [await hash(0), await hash(50), await hash(105), 'ab'.repeat(32)]
  const { tx: ids } = await askBtcd<{ tx: string[] }>(node, 'getblock', [blocks[1]])
  const transactions = [...ids, 'cd'.repeat(32)]
  const spending = await spendReward(node, 1)
  await askBtcd(node, 'sendrawtransaction', [spending.hex])
  const heights = [0, 50, 105, 106, 1_000_000, -1]
  const good: GoodParams = {
    getblockhash: heights.map((height) => [height]),
    getblock: blocks.flatMap((block) => [[block], [block, 0], [block, 1], [block, 2]]),
    getblockheader: blocks.flatMap((block) => [[block], [block, false]]),
    getblockstats: blocks.map((block) => [block]),
    getcfilter: blocks.map((block) => [block, 0]),
    getcfilterheader: blocks.map((block) => [block, 0]),
    getheaders: [[[blocks[0]], blocks[2]]],
    getrawtransaction: [...transactions, spending.id].flatMap((id) => [[id], [id, 1], [id, 0]]),
    gettxout: transactions.flatMap((id) => [
      [id, 0],
      [id, 0, true],
      [id, 9],
    ]),
    decoderawtransaction: [[spending.hex], ['00']],
    decodescript: [['76a914751e76e8199196d454941c45d1b3a323f1433bd688ac']],
    // For a known transaction the router returns its id, but the node an error.
    sendrawtransaction: [['00']],
    validateaddress: [['mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r'], ['invalid']],
    getrawmempool: [[], [true]],
    estimatefee: [[6]],
    estimatesmartfee: [[6]],
    searchrawtransactions: [['mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r', 0, 0, 2]],
    verifymessage: [['mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r', 'H'.repeat(87) + '=', 'words']],
    help: [[], ['getblock'], ['nosuch']],
    getnosuch: [[1]],
  }
  const methods = answeredOverHttp(await specOf('BTC-REGTEST', 'jsonrpc'), 'jsonrpc')
  const ways = {
    node: { url: node.url, headers: { authorization: node.authorization } },
    router: { url: router },
  }
  for (const version of ['1.0', '2.0'] as const) {
    const calls = jsonRpcCalls({ methods, good, never, version })
    expect(calls.length).toBeGreaterThan(400)
    const found = await compare(calls, ways)
    expect(found.differences.slice(0, 8)).toEqual([])
    expect(found.restless.filter((label) => !restless.test(label))).toEqual([])
    expect(found.equal).toBeGreaterThan(400)
  }
})
