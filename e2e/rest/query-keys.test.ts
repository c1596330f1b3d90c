// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { RawClient } from '../../proxy/listener/testing/listener-fixture.ts'
import { serveRouter } from '../served/served-router.ts'
import { MirrorNode, type ReceivedRequest } from './mirror-node.ts'

/*
 * A provider that reads its key from the query, as `apikey`. No client may replace or hide the key:
 * the provider would refuse the request, and the upstreams would leave service.
 */

const specSources = [new URL('mirror.yml', import.meta.url).pathname]
/** More than the consecutive failures that disable two upstreams. */
const times = 12
/** Number of query parameters that common servers read. */
const readParameters = 1_000

/** Checks the first key, with a case-insensitive name. @returns the status */
function authenticate({ target }: ReceivedRequest): number {
  const { search } = new URL(target, 'http://x')
  const parameters = [...new URLSearchParams(search.replaceAll(';', '&'))].slice(0, readParameters)
  const key = parameters.find(([name]) => /^apikey(\[.*)?$/i.test(name))?.[1]
  if (key === 'busy') return 429
  return key === 'own' ? 200 : 401
}

async function served(apiInterface: 'rest' | 'tendermintrpc', withKey: 'auth-query' | 'url') {
  const stack = new AsyncDisposableStack()
  const nodes: MirrorNode[] = []
  for (const name of ['a', 'b']) {
    const node = new MirrorNode(name, (request, response) => {
      const status = authenticate(request)
      const headers = { 'content-type': 'application/json', 'retry-after': '60' }
      response.writeHead(status, status === 200 ? { 'content-type': 'application/json' } : headers)
      response.end('{"jsonrpc":"2.0","id":-1,"result":{"sync_info":{"latest_block_height":"7"}}}')
    })
    nodes.push(stack.use(await node.start()))
  }
  const settings = {
    'skip-verifications': ['*'],
    ...(withKey === 'url' ? {} : { 'auth-config': { 'auth-query': { apikey: 'own' } } }),
  }
  const router = stack.use(
    await serveRouter({
      chainId: apiInterface === 'rest' ? 'MIRROR' : 'HUBCHAIN',
      apiInterface,
      specSources: apiInterface === 'rest' ? specSources : [],
      primaries: nodes.map(({ name, url }) => ({
        name,
        url: withKey === 'url' ? `${url}/?apikey=own` : url,
      })),
      urlSettings: { a: settings, b: settings },
      settings: { 'skip-websocket-verification': true },
    }),
  )
  for (const node of nodes) node.requests.length = 0
  const get = async (target: string) => {
    using client = new RawClient(router.port)
    client.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    return await client.untilClosed()
  }
  const states = () => router.pool.upstreams.map((each) => each.state)
  return { nodes, get, states, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const queries = [
  'apikey=theirs',
  'apikey=busy',
  'apikey',
  'height=5&APIKEY=busy',
  '%61pi%6Bey=busy',
  'height=5;apikey=busy',
  '?apikey=busy',
  'apikey[]=busy',
  '&a'.repeat(2 * readParameters),
]

test.each(
  (['rest', 'tendermintrpc'] as const).flatMap((apiInterface) =>
    (['auth-query', 'url'] as const).map((withKey) => [apiInterface, withKey] as const),
  ),
)("over %s, with a key in the %s, no client's query voids it", async (apiInterface, withKey) => {
  await using own = await served(apiInterface, withKey)
  const path = apiInterface === 'rest' ? '/things/latest' : '/status'
  for (const query of queries)
    for (let at = 0; at < times; at++)
      expect([query, await own.get(`${path}?${query}`)]).toEqual([
        query,
        expect.stringMatching(/^HTTP\/1\.1 200 /),
      ])
  expect(own.states()).toEqual(['eligible', 'eligible'])
})

test.each(['rest', 'tendermintrpc'] as const)(
  'over %s, a fragment is refused with a reason',
  async (apiInterface) => {
    await using own = await served(apiInterface, 'auth-query')
    for (const target of ['/things/latest#a', '/block#', '/block?height=5#a', 'http://x/block#a'])
      for (let at = 0; at < times; at++) {
        const answer = await own.get(target)
        expect(answer).toMatch(/^HTTP\/1\.1 400 /)
        expect(answer).toContain('has no fragment')
        expect(answer).toContain('"reason":"unsendable"')
      }
    expect(
      own.nodes.flatMap(({ requests }) => requests).filter((each) => authenticate(each) !== 200),
    ).toEqual([])
    expect(own.states()).toEqual(['eligible', 'eligible'])
    expect(await own.get('/block%23a?a=%23')).toMatch(/^HTTP\/1\.1 200 /)
  },
)
