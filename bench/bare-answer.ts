// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import { addressOf, balanceOf } from './balances.ts'
import { keptBalances } from './shapes.ts'

/*
 * The minimum cost of an answer: node:http reads a request and writes a balance of shape `kept`.
 *
 *   node bench/bare-answer.ts <port>
 */

const answers = new Map([
  [undefined as string | undefined, '{"jsonrpc":"2.0","id":1,"result":"0x1"}'],
])
for (let n = 0; n < keptBalances; n++)
  answers.set(addressOf(n), `{"jsonrpc":"2.0","id":${n},"result":"${balanceOf(addressOf(n))}"}`)

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { params } = JSON.parse(Buffer.concat(chunks).toString()) as { params: string[] }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(answers.get(params[0]))
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
