// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { Client, credentials } from '@grpc/grpc-js'
import { WebSocket } from 'ws'
import { encode } from '../e2e/upstream-sim/chains/protobuf.ts'
import { addressOf, balanceOf } from './balances.ts'

/** Interfaces for reading a balance, each on a separate connection. */
export const interfaceNames = [
  'JSON-RPC, HTTP',
  'JSON-RPC, WebSocket',
  'Tendermint RPC',
  'REST',
  'gRPC, unary',
] as const
export type InterfaceName = (typeof interfaceNames)[number]

/** A client connection for one call at a time. */
export interface Connection {
  /** Reads the balance of account `n`. Rejects on a missing or wrong answer. */
  read(n: number): Promise<void>
  close(): void
}

/** The balance of every account of the simulated hub chain. */
const hubBalance = '1000000000000'
const grpcPath = '/cosmos.bank.v1beta1.Query/Balance'

/** Connects to the port of a listener. */
export function connectTo(name: InterfaceName, port: number): Promise<Connection> {
  switch (name) {
    case 'JSON-RPC, HTTP':
      return Promise.resolve(
        byHttp(port, (n) => ({ path: '/', body: balanceCall(n), expected: balanceReply(n) })),
      )
    case 'JSON-RPC, WebSocket':
      return byWebSocket(port)
    case 'Tendermint RPC':
      return Promise.resolve(
        byHttp(port, (n) => {
          const params = { path: grpcPath, data: balanceQuery(n).toString('hex') }
          const body = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'abci_query', params })
          return { path: '/', body, expected: '"code":0' }
        }),
      )
    case 'REST':
      return Promise.resolve(
        byHttp(port, (n) => ({
          path: `/cosmos/bank/v1beta1/balances/${accountOf(n)}`,
          body: null,
          expected: `"amount":"${hubBalance}"`,
        })),
      )
    case 'gRPC, unary':
      return Promise.resolve(byGrpc(port))
  }
}

interface Exchange {
  readonly path: string
  /** Null for a GET. */
  readonly body: string | null
  readonly expected: string
}

function byHttp(port: number, exchangeOf: (n: number) => Exchange): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    read: (n) =>
      new Promise((resolve, reject) => {
        const { path, body, expected } = exchangeOf(n)
        const headers = body === null ? {} : { 'content-type': 'application/json' }
        const method = body === null ? 'GET' : 'POST'
        const asked = request({ port, path, method, headers, agent }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
          response.on('end', () => {
            if (text.includes(expected)) resolve()
            else reject(new Error(text.slice(0, 200)))
          })
        })
        asked.on('error', reject)
        asked.end(body ?? undefined)
      }),
    close: () => {
      agent.destroy()
    },
  }
}

async function byWebSocket(port: number): Promise<Connection> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
  await once(socket, 'open')
  return {
    read: (n) =>
      new Promise((resolve, reject) => {
        socket.once('message', (message: Buffer) => {
          const text = message.toString()
          if (text.includes(balanceReply(n))) resolve()
          else reject(new Error(text.slice(0, 200)))
        })
        socket.send(balanceCall(n))
      }),
    close: () => {
      socket.close()
    },
  }
}

function byGrpc(port: number): Connection {
  const options = { 'grpc.use_local_subchannel_pool': 1 }
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options)
  const same = (bytes: Buffer) => bytes
  return {
    read: (n) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(grpcPath, same, same, balanceQuery(n), (error, answer) => {
          if (error) reject(error)
          else if (answer?.includes(hubBalance)) resolve()
          else reject(new Error('another balance'))
        })
      }),
    close: () => {
      client.close()
    },
  }
}

function balanceCall(n: number): string {
  return `{"jsonrpc":"2.0","id":${n},"method":"eth_getBalance","params":["${addressOf(n)}","latest"]}`
}

function balanceReply(n: number): string {
  return `"result":"${balanceOf(addressOf(n))}"`
}

/** A distinct account for each number. */
function accountOf(n: number): string {
  return `cosmos1${n.toString(36).padStart(38, 'q')}`
}

function balanceQuery(n: number): Buffer {
  return encode({ 1: accountOf(n), 2: 'uatom' })
}
