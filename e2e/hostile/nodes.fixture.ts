// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { answerWith, RawNode } from '../grpc/raw-node.ts'
import type { NodeUrl } from '../processes/router-config.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'

/*
 * The nodes of a router that is attacked. A process of its own, so that their work does not delay the innocent client:
 *
 *   node nodes.fixture.ts jsonrpc|grpc
 *
 * It prints them as JSON when they are there.
 */

export interface RouterNode {
  readonly name: string
  readonly urls: readonly NodeUrl[]
}

async function startJsonRpcNodes(): Promise<readonly RouterNode[]> {
  const chain = createChainModel({ blockTimeMs: 1_000 })
  const honest = await Promise.all(['a', 'b', 'c'].map((name) => startSimNode({ chain, name })))
  for (const { faults } of honest)
    faults.add(
      { kind: 'forged', forge: (_, text) => text.replace('[', `[${receipt},`) },
      { methods: ['eth_getBlockReceipts'] },
    )
  return [
    ...honest.map(({ name, url, socketUrl }) => ({ name, urls: [{ url }, { url: socketUrl }] })),
    { name: 'odd', urls: [{ url: await oddNode(honest[0]!.url), addons: ['debug'] }] },
  ]
}

function startGrpcNodes(): Promise<readonly RouterNode[]> {
  const big = 'b'.repeat(1_000_000)
  return Promise.all(
    ['a', 'b'].map(async (name) => {
      const node = new RawNode((stream) => {
        stream.once('data', (message: Buffer) => {
          if (!stream.destroyed) answerWith(stream, [message.includes('big') ? big : 'hello'])
        })
      })
      const { port } = await node.start()
      return { name, urls: [{ url: `grpc://127.0.0.1:${port}` }] }
    }),
  )
}

const receipt = `{"padding":"${'0'.repeat(900_000)}"}`

/** A node that answers calls of `debug` in odd ways, and all others as another node does. */
async function oddNode(of: string): Promise<string> {
  const server = createServer((asked, answer) => {
    const pieces: Buffer[] = []
    asked
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const body = Buffer.concat(pieces).toString()
        const how = /"debug_traceTransaction","params":\["([^"]+)"/.exec(body)?.[1]
        if (how) return answerOddly(how, answer)
        void fetch(of, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
          .then(async (reply) => answer.end(await reply.text()))
          .catch(() => answer.destroy())
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const bomb = gzipSync(`{"jsonrpc":"2.0","id":1,"result":"${' '.repeat(200_000_000)}"}`)

function answerOddly(how: string, answer: ServerResponse): void {
  const { socket } = answer
  if (!socket) return
  if (how === 'bomb') {
    answer.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    answer.end(bomb)
  } else if (how === 'interim') {
    const write = () => {
      while (socket.write('HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'.repeat(100)));
      if (!socket.destroyed) socket.once('drain', write)
    }
    write()
  } else {
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const chunks = '1\r\n0\r\n'.repeat(1_000)
    socket.write(
      [...'{"jsonrpc":"2.0","id":1,"result":"'].map((each) => `1\r\n${each}\r\n`).join(''),
    )
    let left = 2_000
    const write = () => {
      while (left-- > 0) if (!socket.write(chunks)) return void socket.once('drain', write)
      socket.end('2\r\n"}\r\n0\r\n\r\n')
    }
    write()
  }
}

if (import.meta.main) {
  const nodes = await (process.argv[2] === 'grpc' ? startGrpcNodes() : startJsonRpcNodes())
  // A client that leaves is no reason to end.
  process.on('uncaughtException', () => {})
  process.stdout.write(`${JSON.stringify(nodes)}\n`)
}
