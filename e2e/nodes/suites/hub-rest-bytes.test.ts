// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { compare, type WireCall } from '../byte-equality.ts'
import { startHaltedHub } from '../hub-chain.ts'
import { httpCall, type HttpRequest, type HttpTarget } from '../http-call.ts'
import type { WasmdNode } from '../wasmd.ts'
import { openGround } from './ground.ts'
import { type HubFacts, hubFacts, restParameters } from './hub-facts.ts'
import { routeTo } from './routed.ts'
import { specOf } from './spec-methods.ts'

const ground = await openGround()
/** Headers and trailers that the spec does not list. */
const withheld = [
  'x-server-time',
  // The gRPC content type between the node and its gateway.
  'grpc-metadata-content-type',
  'grpc-trailer-content-type',
  // A URL of the node that clients must not use.
  'location',
]

let node: WasmdNode
let facts: HubFacts
let router: string
beforeAll(async () => {
  node = await startHaltedHub(ground, 'hub')
  facts = await hubFacts(node)
  const nodes = [{ name: 'hub', urls: [{ url: node.restUrl }] }]
  const { urls } = await routeTo(ground, [{ chainId: 'HUBCHAIN', apiInterface: 'rest', nodes }])
  router = urls[0] ?? ''
})

function call(request: Partial<HttpRequest> & { path: string }): WireCall<HttpTarget> {
  const whole = { verb: 'GET', ...request }
  const shown = Object.entries(whole.headers ?? {})
    .flat()
    .join(' ')
  return httpCall(`${whole.verb} ${whole.path} ${shown}`, whole)
}

async function expectEqual(calls: readonly WireCall<HttpTarget>[], atLeast: number): Promise<void> {
  const ways = { node: { url: node.restUrl }, router: { url: router } }
  const found = await compare(calls, ways, { withheld })
  expect(found.differences.slice(0, 8)).toEqual([])
  expect(found.restless).toEqual([])
  expect(found.equal).toBeGreaterThanOrEqual(atLeast)
}

test('every path of the spec, with valid and invalid parameters', async () => {
  const { methods } = await specOf('HUBCHAIN', 'rest')
  const paths = [...methods].flatMap((pattern) => [
    pattern,
    pattern.replace('/sdkwasm/', '/cosmwasm/').replace('/sdk/', '/cosmos/'),
  ])
  const values = restParameters(facts)
  const filled = [...new Set(paths)].flatMap((pattern) => [
    ...fill(pattern, values),
    pattern.replaceAll(/\{[^}]+\}/g, 'zz%20'),
  ])
  const calls = [...new Set(filled)].map((path) => call({ path }))
  await expectEqual(calls, 500)
})

/** The pattern with the first values of its parameters, then the second, and so on. */
function fill(pattern: string, values: Readonly<Record<string, readonly string[]>>): string[] {
  const names = [...pattern.matchAll(/\{([^}=]+)(?:=\*\*)?\}/g)].map(([, name]) => name ?? '')
  const most = Math.max(1, ...names.map((name) => values[name]?.length ?? 0))
  return Array.from({ length: most }, (_each, at) =>
    pattern.replaceAll(/\{([^}=]+)(?:=\*\*)?\}/g, (_whole, name: string) => {
      const known = values[name] ?? ['1']
      return known[at % known.length] ?? '1'
    }),
  )
}

test('queries, heights, other verbs, and bodies of every kind', async () => {
  const { user, head, contract } = facts
  const balances = `/cosmos/bank/v1beta1/balances/${user}`
  const heights = ['1', '3', String(head), String(head + 100), '0', '-1', 'abc', '']
  const json = { 'content-type': 'application/json' }
  const bodies = ['{}', '', 'not json', '{"tx_bytes":"AAAA","mode":"BROADCAST_MODE_SYNC"}', '[1]']
  const posted = [
    '/cosmos/tx/v1beta1/txs',
    '/cosmos/tx/v1beta1/simulate',
    '/cosmos/tx/v1beta1/decode',
  ]
  await expectEqual(
    [
      ...['?pagination.limit=1', '?pagination.limit=x', '?', '?a=b&a=c', '?denom=a%2Fb+c'].map(
        (query) => call({ path: `${balances}${query}` }),
      ),
      ...heights.flatMap((height) => [
        call({ path: balances, headers: { 'x-cosmos-block-height': height } }),
        call({ path: balances, headers: { 'grpc-metadata-x-cosmos-block-height': height } }),
        call({ path: `/cosmos/base/tendermint/v1beta1/blocks/${height}` }),
      ]),
      ...['query=tx.height>0', 'events=tx.height>0', 'query=nonsense', ''].map((query) =>
        call({ path: `/cosmos/tx/v1beta1/txs?${encodeURI(query)}` }),
      ),
      ...['/', '/nosuch', '/cosmos', '/cosmos/', '//', `${balances}/`, '/cosmos/../x'].map((path) =>
        call({ path }),
      ),
      ...['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'POST'].flatMap((verb) => [
        call({ verb, path: balances }),
        call({ verb, path: '/cosmos/tx/v1beta1/txs' }),
      ]),
      ...posted.flatMap((path) =>
        bodies.map((body) => call({ verb: 'POST', path, body, headers: json })),
      ),
      call({ verb: 'POST', path: posted[1]!, body: Buffer.from([0, 255, 1]) }),
      call({ path: balances, headers: { accept: 'text/plain' } }),
      call({ path: balances, headers: { 'accept-encoding': 'gzip' } }),
      call({ path: `/cosmwasm/wasm/v1/code/1` }),
      call({ path: `/cosmwasm/wasm/v1/contract/${contract}/state?pagination.limit=1` }),
    ],
    70,
  )
})
