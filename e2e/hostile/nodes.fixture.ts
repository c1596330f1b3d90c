// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { begin, framed, RawNode } from '../grpc/raw-node.ts'
import type { NodeUrl } from '../processes/router-config.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'

/*
 * Nodes of an attacked router, in a separate process so that they do not delay the innocent client:
 *
 *   node nodes.fixture.ts honest|grpc|odd-grpc
 *   node nodes.fixture.ts odd <URL of an honest node>
 *
 * It prints them as JSON once they serve. The calls of attacks cost the odd node almost nothing.
 */

export interface RouterNode {
  readonly name: string
  readonly urls: readonly NodeUrl[]
}

async function startHonestNodes(): Promise<readonly RouterNode[]> {
  const chain = createChainModel({ blockTimeMs: 1_000 })
  const honest = await Promise.all(['a', 'b', 'c'].map((name) => startSimNode({ chain, name })))
  return honest.map(({ name, url, socketUrl }) => ({ name, urls: [{ url }, { url: socketUrl }] }))
}

function startGrpcNodes(...addons: string[]): Promise<readonly RouterNode[]> {
  const big = framed('b'.repeat(1_000_000))
  const hello = framed('hello')
  return Promise.all(
    (addons.length > 0 ? ['odd'] : ['a', 'b']).map(async (name) => {
      const node = new RawNode((stream, headers) => {
        stream.once('data', () => {
          if (stream.destroyed) return
          begin(stream)
          stream.end(headers[':path'] === '/test.Echo/Odd' ? big : hello)
        })
      })
      const { port } = await node.start()
      return { name, urls: [{ url: `grpc://127.0.0.1:${port}`, addons }] }
    }),
  )
}

/** A node that answers `debug` calls at once or in odd ways, and forwards all others to `of`. */
async function startOddNode(of: string): Promise<readonly RouterNode[]> {
  const server = createServer((request, answer) => {
    const pieces: Buffer[] = []
    request
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const body = Buffer.concat(pieces)
        const how = /"debug_traceTransaction","params":\["([^"]+)"/.exec(startOf(body))?.[1]
        if (how) return answerOddly(how, answer)
        if (startOf(body).includes('"debug_')) return answer.end(answersTo(body))
        void fetch(of, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
          .then(async (reply) => answer.end(await reply.text()))
          .catch(() => answer.destroy())
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return [{ name: 'odd', urls: [{ url, addons: ['debug'] }] }]
}

function startOf(body: Buffer): string {
  return body.toString('latin1', 0, 200)
}

function answersTo(body: Buffer): string {
  const answer = (id: unknown) => ({ jsonrpc: '2.0', id, result: '0x' })
  if (body[0] !== 0x5b) return JSON.stringify(answer(Number(/"id":(\d+)/.exec(startOf(body))?.[1])))
  const calls = JSON.parse(body.toString()) as { readonly id: unknown }[]
  return JSON.stringify(calls.map(({ id }) => answer(id)))
}

const big = `{"jsonrpc":"2.0","id":1,"result":"${'0'.repeat(900_000)}"}`
const bomb = gzipSync(`{"jsonrpc":"2.0","id":1,"result":"${' '.repeat(200_000_000)}"}`)

function answerOddly(how: string, answer: ServerResponse): void {
  const { socket } = answer
  if (!socket) return
  if (how === 'big') answer.end(big)
  else if (how === 'bomb') {
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
  const [kind = '', of = ''] = process.argv.slice(2)
  const start: Record<string, () => Promise<readonly RouterNode[]>> = {
    honest: startHonestNodes,
    odd: () => startOddNode(of),
    grpc: () => startGrpcNodes(),
    'odd-grpc': () => startGrpcNodes('debug'),
  }
  const nodes = await start[kind]?.()
  // A client that disconnects must not end this process.
  process.on('uncaughtException', () => {})
  process.stdout.write(`${JSON.stringify(nodes)}\n`)
}
