// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Dice } from './dice.ts'
import type { RequestPlan } from './schedule.ts'

/** What clients ask, the usual more often than the rest. */
const methods = [
  'eth_blockNumber',
  'eth_blockNumber',
  'eth_getBalance',
  'eth_getBalance',
  'eth_getBalance',
  'eth_call',
  'eth_call',
  'eth_call',
  'eth_getBlockByNumber',
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_getBlockReceipts',
  'eth_getLogs',
  'eth_getLogs',
  'eth_estimateGas',
  'eth_chainId',
  'eth_sendRawTransaction',
  'eth_sendRawTransaction',
  'eth_newBlockFilter',
  'debug_getRawHeader',
  'some_unknownMethod',
] as const

/** What the clients do: single calls spread over the time, and bursts. */
export function drawRequests(
  dice: Dice,
  heaviness: Dice,
  durationMs: number,
  names: readonly string[],
): readonly RequestPlan[] {
  const count = Math.round(dice.scaled(6, 70))
  const requests: RequestPlan[] = []
  while (requests.length < count) {
    const atMs = dice.chance(0.03) ? 0 : dice.next() * durationMs
    const burst = dice.chance(0.05) ? dice.whole(2, 12) : 1
    const method = dice.pick(methods)
    for (let each = 0; each < burst; each++)
      requests.push(
        drawRequest(dice, heaviness, atMs, burst === 1 ? dice.pick(methods) : method, names),
      )
  }
  return requests.toSorted((a, b) => a.atMs - b.atMs)
}

function drawRequest(
  dice: Dice,
  heaviness: Dice,
  atMs: number,
  method: string,
  names: readonly string[],
): RequestPlan {
  return {
    atMs,
    method,
    depth: dice.chance(0.5) ? null : dice.pick([0, 0, 1, 2, 5, 20, 300]),
    pick: dice.whole(0, 7),
    leavesAfterMs: dice.chance(0.07) ? dice.scaled(1, 3_000) : null,
    selectProvider: dice.chance(0.04) ? dice.pick(names) : null,
    blockProviders: dice.chance(0.04) ? [dice.pick(names)] : [],
    relayTimeoutMs: dice.chance(0.04) ? Math.round(dice.scaled(20, 4_000)) : null,
    heavyMs: heaviness.chance(0.06) ? heaviness.scaled(500, 40_000) : 0,
  }
}
