// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type AddressInfo, type Socket } from 'node:net'

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
/** Half an answer, short enough that the router buffers it until the attempt ends. */
const half = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":"0x${'0'.repeat(100_000)}`)
const answer = '{"jsonrpc":"2.0","id":1,"result":"0x2a"}'

/** A minimal HTTP server that counts connections and requests. */
export interface SocketNode extends AsyncDisposable {
  readonly url: string
  readonly open: number
  readonly requests: number
}

/** A node that never finishes an answer: it sends nothing, or half a body. */
export function startSilentNode(): Promise<SocketNode> {
  let turn = 0
  return startSocketNode((socket) => {
    if (turn++ % 2 === 0) return
    socket.write(`${head}content-length: ${2 * half.length}\r\n\r\n`)
    socket.write(half)
  })
}

/** A node that answers at once. */
export function startPromptNode(): Promise<SocketNode> {
  return startSocketNode((socket) =>
    socket.write(`${head}content-length: ${answer.length}\r\n\r\n${answer}`),
  )
}

async function startSocketNode(serve: (socket: Socket) => void): Promise<SocketNode> {
  const sockets = new Set<Socket>()
  let requests = 0
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // The router resets the connection of an aborted attempt.
    socket.on('error', () => socket.destroy())
    // Each request is small enough to arrive in one chunk.
    socket.on('data', () => {
      requests += 1
      serve(socket)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get open() {
      return sockets.size
    },
    get requests() {
      return requests
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}
