// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { MirrorNode } from '../rest/mirror-node.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import type { Decoder, Reading } from './decoders.ts'

/** A node whose answers show how its decoder read the request. */
export interface DecodingNode extends AsyncDisposable {
  readonly name: string
  readonly url: string
  decode: Decoder
  /** Raw bodies of the requests that the decoding node answers. */
  readonly received: string[]
}

const digest = (...of: unknown[]) =>
  `0x${createHash('sha256').update(JSON.stringify(of)).digest('hex')}`

const isNumber = (block: unknown): block is string => /^0x[0-9a-f]{1,8}$/.test(String(block))

/** Answers that match the decoded call, so that the router's checks fail only for another call. */
const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
  eth_getBalance: (params) => digest(params).slice(0, 18),
  eth_call: (params) => digest(params),
  eth_sendRawTransaction: (params) => digest(params),
  eth_newFilter: (params) => digest(params).slice(0, 18),
  eth_getBlockByNumber: ([block]) => {
    // The router's own probes request the latest block.
    if (!isNumber(block)) return undefined
    const number = Number(block)
    return {
      number: `0x${number.toString(16)}`,
      hash: digest(number),
      parentHash: digest(number - 1),
    }
  },
  eth_getLogs: ([filter]) => {
    const { address = null, fromBlock, toBlock } = (filter ?? {}) as Record<string, string>
    if (!isNumber(fromBlock) || !isNumber(toBlock)) return []
    const blockHash = digest(Number(fromBlock))
    return [{ address, blockNumber: fromBlock, blockHash, topics: [], data: digest(filter) }]
  },
}

/** The result for a decoded call; undefined if the simulated node answers it. */
export function resultOf({ method, params }: Pick<Reading, 'method' | 'params'>): unknown {
  return answers[method]?.(params)
}

/** Starts a node. It forwards other requests, such as probes, to a simulated node. */
export async function startDecodingNode(name: string, decode: Decoder): Promise<DecodingNode> {
  const sim = await startSimNode({ chain: createChainModel(), name })
  const received: string[] = []
  const answerTo = async (read: Reading | null): Promise<object> => {
    const { id, method, params } = read ?? { id: null, method: '', params: [] }
    if (read === null)
      return { jsonrpc: '2.0', id, error: { code: -32602, message: 'invalid params' } }
    const result = resultOf(read)
    if (result !== undefined) return { jsonrpc: '2.0', id, result }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(sim.url, { method: 'POST', headers, body })
    return (await answer.json()) as object
  }
  const node = { decode }
  const mirror = new MirrorNode(name, async (request, response) => {
    const body = request.body.toString()
    const readings = await node.decode(body)
    if (readings.some((read) => read === null || resultOf(read) !== undefined)) received.push(body)
    const all = await Promise.all(readings.map(answerTo))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(/^\s*\[/.test(body) ? all : all[0]))
  })
  const { url } = await mirror.start()
  return Object.assign(node, {
    ...{ name, received, url },
    async [Symbol.asyncDispose]() {
      await mirror[Symbol.asyncDispose]()
      await sim[Symbol.asyncDispose]()
    },
  })
}
