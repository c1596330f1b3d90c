// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type Server } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { createChainModel } from '../e2e/upstream-sim/chain-model.ts'
import { EthereumNode } from '../e2e/upstream-sim/sim-node.ts'
import { FaultSwitch } from '../e2e/upstream-sim/faults.ts'
import { readRequest } from '../e2e/upstream-sim/json-rpc.ts'
import { seededRandom } from '../proxy/clock/testing/seeded-random.ts'
import { systemClock } from '../proxy/clock/clock.ts'

/** The content and the encoding of a big answer. */
export type BigShape = 'logs' | 'one string' | 'id behind' | 'gzip from the node'

const pieceBytes = 64 * 1024
const firstBlock = 0x112a880
const logsInBlock = 200

/** The method and params of the call, `eth_getLogs` or `eth_getCode`. */
export function bigParams(shape: BigShape): { readonly method: string; readonly params: unknown } {
  if (shape === 'one string')
    return { method: 'eth_getCode', params: [`0x${'5a'.repeat(20)}`, 'latest'] }
  return { method: 'eth_getLogs', params: [{ fromBlock: hex(firstBlock), toBlock: 'latest' }] }
}

/** A valid log, since the router checks logs. */
function log(index: number): string {
  const block = firstBlock + Math.floor(index / logsInBlock)
  return JSON.stringify({
    address: `0x${'5a'.repeat(20)}`,
    topics: [`0x${'dd'.repeat(32)}`, `0x${'00'.repeat(32)}`],
    data: `0x${'0'.repeat(128)}`,
    blockNumber: hex(block),
    blockHash: `0x${block.toString(16).padStart(64, '0')}`,
    transactionHash: `0x${index.toString(16).padStart(64, '7')}`,
    transactionIndex: hex(index % logsInBlock),
    logIndex: hex(index % logsInBlock),
    removed: false,
  })
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}

function* code(bytes: number): Generator<Buffer> {
  yield Buffer.from('"0x')
  const piece = Buffer.alloc(pieceBytes, 'ab')
  for (let given = 0; given < bytes; given += piece.length) yield piece
  yield Buffer.from('"')
}

function* logs(bytes: number): Generator<Buffer> {
  yield Buffer.from(`[${log(0)}`)
  let piece = ''
  let given = 0
  for (let index = 1; given + piece.length < bytes; index++) {
    piece += `,${log(index)}`
    if (piece.length < pieceBytes) continue
    yield Buffer.from(piece)
    given += piece.length
    piece = ''
  }
  yield Buffer.from(`${piece}]`)
}

/** The answer in pieces, about `bytes` long. */
function* pieces(shape: BigShape, id: string, bytes: number): Generator<Buffer> {
  const head = shape === 'id behind' ? '' : `"id":${id},`
  yield Buffer.from(`{"jsonrpc":"2.0",${head}"result":`)
  yield* shape === 'one string' ? code(bytes) : logs(bytes)
  yield Buffer.from(shape === 'id behind' ? `,"id":${id}}\n` : '}\n')
}

/** An Ethereum node on loopback. `eth_getLogs` or `eth_getCode` answers about `bytes` bytes. */
export function createBigNode(bytes: number, shape: () => BigShape): Server {
  const chain = createChainModel({ seed: 'big', clock: systemClock })
  const node = new EthereumNode({ chain, faults: new FaultSwitch(seededRandom(1)) })
  return createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (!/"eth_get(Logs|Code)"/.test(body)) {
        response.end(node.reply(readRequest(body)) ?? '')
        return
      }
      const { id } = JSON.parse(body) as { id: unknown }
      const stream = Readable.from(pieces(shape(), JSON.stringify(id), bytes))
      // The figures show an abort by the router.
      const ended = (error: unknown) => error
      if (shape() !== 'gzip from the node') pipeline(stream, response).catch(ended)
      else {
        response.setHeader('content-encoding', 'gzip')
        pipeline(stream, createGzip({ level: 1 }), response).catch(ended)
      }
    })
  })
}

/** The expected bytes at the client. */
export function bigAnswer(shape: BigShape, id: string, bytes: number): Iterable<Buffer> {
  return pieces(shape, id, bytes)
}
