// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { RawClient } from '../../proxy/listener/testing/listener-fixture.ts'
import { serveRouter } from '../served/served-router.ts'
import { MirrorNode } from './mirror-node.ts'

const specSources = [new URL('mirror.yml', import.meta.url).pathname]

/** Requests a path. Returns the client's answer, and the request that the node received. */
async function get(path: string) {
  await using node = await new MirrorNode('node', (_, response) => response.end('{}')).start()
  await using router = await serveRouter({
    chainId: 'MIRROR',
    apiInterface: 'rest',
    specSources,
    primaries: [{ name: 'node', url: `${node.url}/v1?key=k` }],
  })
  node.requests.length = 0
  using client = new RawClient(router.port)
  client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  return { answer: await client.untilClosed(), requests: node.requests.map(({ target }) => target) }
}

test.each(['/../../admin', '/%2e%2e/x', '/a/../x', '/a/..%2fx', '/..;/x', 'http://x/..\\x'])(
  '%s may escape the path of the URL, and is refused with a reason',
  async (path) => {
    const { answer, requests } = await get(path)
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"reason":"unsendable"[^]*above the root/)
    expect(requests.filter((target) => target.includes('x') || target.includes('admin'))).toEqual(
      [],
    )
  },
)

test.each(['/a%2Fb/./c', '/...', '/a..b/c?x=/../..'])(
  '%s reaches the node unchanged',
  async (path) => {
    const { answer, requests } = await get(path)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    const [bare, query] = path.split('?')
    expect(requests).toContain(`/v1${bare}?key=k${query === undefined ? '' : `&${query}`}`)
  },
)
