// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { RawClient } from '../../proxy/listener/testing/listener-fixture.ts'
import { serveRouter, type ServedRouter } from '../served/served-router.ts'
import { MirrorNode } from './mirror-node.ts'

/*
 * A client's bad requests never count against a node. Both upstreams remain eligible after more
 * such requests than the failure threshold.
 */

const specSources = [new URL('mirror.yml', import.meta.url).pathname]
/** More than the consecutive failures that disable two upstreams. */
const times = 12

async function pairOf(
  answer: MirrorNode['answer'],
  others = answer,
  urlSettings: Record<string, unknown> = {},
) {
  const stack = new AsyncDisposableStack()
  const nodes = [
    stack.use(await new MirrorNode('a', answer).start()),
    stack.use(await new MirrorNode('b', others).start()),
  ]
  const router = stack.use(
    await serveRouter({
      chainId: 'MIRROR',
      apiInterface: 'rest',
      specSources,
      primaries: nodes,
      urlSettings: { a: urlSettings, b: urlSettings },
    }),
  )
  for (const node of nodes) node.requests.length = 0
  return { nodes, router, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Sends bytes on a new connection. @returns the answer */
async function send(port: number, bytes: string): Promise<string> {
  using client = new RawClient(port)
  client.write(bytes)
  return await client.untilClosed()
}

function statesOf({ pool }: ServedRouter): readonly string[] {
  return pool.upstreams.map((each) => each.state)
}

const json: MirrorNode['answer'] = (_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end('{}')
}

describe('no node receives', () => {
  const refused: [string, number, string][] = [
    ['OPTIONS *', 400, 'unsendable'],
    ['GET *', 400, 'unsendable'],
    ['GET ftp://evil/x', 400, 'unsendable'],
    ['TRACE /things/1', 405, 'verb-not-allowed'],
    ['TRACE *', 400, 'unsendable'],
    ['GET /things/1#a', 400, 'unsendable'],
    ['POST /things?a#b', 400, 'unsendable'],
    ['PURGE /things/1', 405, 'verb-not-allowed'],
  ]
  test.each(refused)('%s %s', async (line, status, reason) => {
    await using pair = await pairOf(json)
    for (let at = 0; at < times; at++) {
      const bytes = `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
      const answer = await send(pair.router.port, bytes)
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(answer).toContain(`"reason":"${reason}"`)
      expect(answer).not.toMatch(/^rpc-(errored|reported)-providers/im)
    }
    expect(pair.nodes.flatMap(({ requests }) => requests)).toEqual([])
    expect(statesOf(pair.router)).toEqual(['eligible', 'eligible'])
  })
})

describe('an error of a node about the request', () => {
  const statuses = [400, 404, 405, 406, 410, 411, 413, 414, 415, 416, 417, 421, 422, 426, 431, 501]
  const bodies: [string, string, string][] = [
    ['no body', 'text/plain', ''],
    ['a page', 'text/html', '<h1>too many requests</h1>'],
    ['JSON', 'application/json', '{"message":"no"}'],
    ['JSON of a gateway', 'application/json', '{"code":12,"message":"Not Implemented"}'],
  ]
  const cells = statuses.flatMap((status) =>
    bodies.map(([name, type, body]) => ({ status, name, type, body })),
  )
  test.each(cells)('$status with $name', async ({ status, type, body }) => {
    await using pair = await pairOf((_, response) => {
      response.writeHead(status, { 'content-type': type })
      response.end(body)
    })
    for (let at = 0; at < times; at++) {
      const method = at % 2 ? 'GET' : 'HEAD'
      const response = await fetch(`${pair.router.url}/odd/path`, { method })
      await response.arrayBuffer()
      expect(response.status).toBe(status)
      // 410 means that the node lacks history, so the router retries at another node.
      if (status !== 410) expect(response.headers.get('rpc-errored-providers')).toBeNull()
    }
    expect(statesOf(pair.router)).toEqual(['eligible', 'eligible'])
  })

  test('text of the client starts no cooldown', async () => {
    await using pair = await pairOf((request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ message: `Cannot GET ${request.target}` }))
    })
    for (const path of ['/rate-limit', '/unauthorized', '/cloudflare', '/quota/x/exceeded'])
      expect((await fetch(pair.router.url + path)).status).toBe(404)
    expect(statesOf(pair.router)).toEqual(['eligible', 'eligible'])
  })
})

// A gateway without its node may refuse valid requests, and limits differ between nodes.
describe('another node answers a read that one node refuses', () => {
  const statuses = [400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 417, 422, 426, 431, 501]
  test.each(statuses)('with %i', async (status) => {
    const refuses: MirrorNode['answer'] = (_, response) => {
      response.writeHead(status, { 'content-type': 'text/html' })
      response.end('<h1>no</h1>')
    }
    await using pair = await pairOf(refuses, json)
    for (let at = 0; at < times; at++) {
      const response = await fetch(`${pair.router.url}/odd/path`)
      expect([response.status, await response.text()]).toEqual([200, '{}'])
    }
  })
})

test('a failed HEAD still counts against the node', async () => {
  await using pair = await pairOf((_, response) => response.writeHead(503).end())
  for (let at = 0; at < times; at++) await fetch(`${pair.router.url}/odd`, { method: 'HEAD' })
  expect(statesOf(pair.router)).toEqual(['disabled', 'disabled'])
})

test("the operator's value of a header replaces the client's", async () => {
  const guarded: MirrorNode['answer'] = ({ headers }, response) => {
    const isKnown = headers['x-listed'] === 'own' && headers['accept'] === 'own/type'
    response.statusCode = isKnown ? 200 : 401
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  }
  const own = { 'X-Listed': 'own', accept: 'own/type' }
  await using pair = await pairOf(guarded, guarded, { 'auth-config': { 'auth-headers': own } })
  for (let at = 0; at < times; at++) {
    const headers = 'X-Listed: junk\r\nx-listed: more\r\nAccept: */*\r\nConnection: close\r\n'
    const answer = await send(
      pair.router.port,
      `GET /things/1 HTTP/1.1\r\nHost: x\r\n${headers}\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
  }
  expect(statesOf(pair.router)).toEqual(['eligible', 'eligible'])
})
