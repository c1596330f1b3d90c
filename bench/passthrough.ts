// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import { Pool } from 'undici'

/*
 * A minimal proxy: node:http for clients, undici for upstreams, round robin, no retries and no
 * parsing. The difference to it is the cost of the router's own work.
 *
 *   node bench/passthrough.ts <port> <upstream-url>...
 */

const [port, ...urls] = process.argv.slice(2)
const pools = urls.map((url) => new Pool(url, { connections: 64 }))
let turn = 0

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const pool = pools[turn++ % pools.length]
    if (pool === undefined) throw new Error('no upstream URL was given')
    const answer: Buffer[] = []
    let status = 502
    pool.dispatch(
      {
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat(chunks),
      },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode
        },
        onResponseData(_controller, chunk) {
          answer.push(chunk)
        },
        onResponseEnd() {
          const body = Buffer.concat(answer)
          response.writeHead(status, {
            'content-type': 'application/json',
            'content-length': body.length,
          })
          response.end(body)
        },
        onResponseError() {
          response.writeHead(502).end()
        },
      },
    )
  })
}).listen(Number(port), '127.0.0.1')
