// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveRouter, uncached, type ServedRouter } from '../served/served-router.ts'
import { MirrorNode } from './mirror-node.ts'

/*
 * The router checks an answer with any content type, or without one.
 */

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

const block = (height: number) =>
  `{"block_height":"${height}","block_hash":"0x${String(height).repeat(64)}","block_timestamp":"7","first_version":"8","last_version":"9"}`
const truth = block(5)
const other = block(4)
const json = { 'content-type': 'application/json' }
let answer: Answer = { body: truth }
let router: ServedRouter
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const answering = (body: () => Answer): MirrorNode['answer'] => {
    return (_, response) => {
      const { status = 200, headers = {}, body: text } = body()
      response.writeHead(status, headers)
      response.end(status === 204 ? undefined : text)
    }
  }
  const honest = answering(() => ({ headers: json, body: truth }))
  const nodes = [
    new MirrorNode(
      'wrong',
      answering(() => answer),
    ),
    new MirrorNode('honest', honest),
  ]
  for (const node of nodes) stack.use(await node.start())
  const settings = { 'skip-verifications': ['*'] }
  router = stack.use(
    await serveRouter({
      chainId: 'MOVECHAIN',
      apiInterface: 'rest',
      primaries: nodes,
      urlSettings: { wrong: settings, honest: settings },
      settings: { ...uncached, 'upstream-failure-threshold': 1_000 },
    }),
  )
})

afterAll(() => stack.disposeAsync())

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${router.url}${path}`, {
    headers: { 'rpc-select-provider': 'wrong', ...headers },
    redirect: 'manual',
  })
  const reported = response.headers.get('rpc-reported-providers')
  return { status: response.status, reported, text: await response.text() }
}

const octets = { 'content-type': 'application/octet-stream' }

test.each<[string, Answer, string | null]>([
  ['another block without a content type', { body: other }, 'wrong'],
  ['another block as text', { headers: { 'content-type': 'text/plain' }, body: other }, 'wrong'],
  ['another block as octets', { headers: octets, body: other }, 'wrong'],
  ['half a document', { headers: { 'content-type': 'text/plain' }, body: truth.slice(9) }, 'wrong'],
  ['a page', { headers: { 'content-type': 'text/html' }, body: '<h1>Welcome!</h1>' }, 'wrong'],
  ['nothing', { headers: json, body: '' }, 'wrong'],
  ['HTTP 204', { status: 204, body: '' }, 'wrong'],
  [
    'a part',
    { status: 206, headers: { ...json, 'content-range': 'bytes 0-1/9' }, body: '{}' },
    'wrong',
  ],
  [
    'half a document as HTTP 206',
    { status: 206, headers: octets, body: truth.slice(0, 9) },
    'wrong',
  ],
  ['a long page', { headers: octets, body: '<'.repeat(2 * 2 ** 20) }, 'wrong'],
  ['elsewhere', { status: 302, headers: { location: 'https://a.example/' }, body: '' }, null],
])('%s: another node is asked', async (_, wrong, reported) => {
  answer = wrong
  expect(await get('/blocks/by_height/5')).toEqual({ status: 200, reported, text: truth })
  // Clients that accept plain text accept JSON too.
  const accept = { accept: 'application/json, text/plain, */*' }
  expect(await get('/blocks/by_height/5', accept)).toMatchObject({ text: truth })
})

test('JSON is accepted with any content type', async () => {
  for (const status of [200, 202, 206]) {
    answer = { status, headers: { 'content-type': 'text/plain' }, body: ` ${truth}\n` }
    const seen = await get('/blocks/by_height/5')
    expect(seen).toEqual({ status, reported: null, text: ` ${truth}\n` })
  }
})

test('only clients that accept a binary form get it', async () => {
  answer = { headers: { 'content-type': 'application/x-bcs' }, body: 'bytes' }
  expect(await get('/blocks/by_height/5', { accept: 'application/x-bcs' })).toMatchObject({
    status: 200,
    text: 'bytes',
  })
  expect(await get('/blocks/by_height/5')).toMatchObject({ reported: 'wrong', text: truth })
  answer = { headers: { 'content-type': 'text/plain' }, body: 'bytes' }
  const seen = await get('/blocks/by_height/5', { accept: 'application/x-bcs' })
  expect(seen).toMatchObject({ reported: 'wrong', text: truth })
})

test.each(['/spec', '/spec.yaml', '/no-spec-names-it'])(
  '%s may be an HTML page or anything else',
  async (path) => {
    answer = { headers: { 'content-type': 'text/html' }, body: '<h1>spec</h1>' }
    expect(await get(path)).toEqual({ status: 200, reported: null, text: '<h1>spec</h1>' })
  },
)

test('an empty body is a valid answer for a path outside the spec', async () => {
  answer = { headers: { ...json, 'content-length': '0' }, body: '' }
  expect(await get('/no-spec-names-it')).toEqual({ status: 200, reported: null, text: '' })
  answer = { headers: json, body: '{"half":' }
  expect(await get('/no-spec-names-it')).toMatchObject({ reported: 'wrong' })
})

test('if all nodes redirect, the client gets the redirect, and no upstream is blamed', async () => {
  await using node = await new MirrorNode('tidy', (_, response) => {
    response.writeHead(301, { location: '/blocks/by_height/5' })
    response.end()
  }).start()
  await using own = await serveRouter({
    chainId: 'MOVECHAIN',
    apiInterface: 'rest',
    primaries: [node],
    urlSettings: { tidy: { 'skip-verifications': ['*'] } },
    settings: uncached,
  })
  for (let times = 0; times < 12; times++) {
    const response = await fetch(`${own.url}/blocks/by_height/5`, { redirect: 'manual' })
    expect(response.status).toBe(301)
  }
})
