// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import { addressOf, balanceOf } from './balances.ts'

/*
 * What an answer costs at the least: node:http reads a request and writes the balance of shape `same`.
 *
 *   node bench/bare-answer.ts <port>
 */

const answers: Readonly<Record<string, string>> = {
  eth_chainId: '{"jsonrpc":"2.0","id":1,"result":"0x1"}',
  eth_getBalance: `{"jsonrpc":"2.0","id":7,"result":"${balanceOf(addressOf(7))}"}`,
}

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { method } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(answers[method])
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
