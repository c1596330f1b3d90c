// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { Client, credentials } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import { interfacesOf } from '../../proxy/chain/testing/every-interface.ts'
import type { Chain, ChainCatalog, ChainInterface } from '../../proxy/chain/types.ts'
import { serveRouter, type ServedRouter } from '../served/served-router.ts'
import { someQuestion } from './some-question.ts'
import { specHead } from './spec-answers.ts'
import { echoOf, startSpecNode } from './spec-node.ts'

/*
 * Every interface of every chain starts a listener, verifies its node and relays. `CATALOG_DIR`
 * names a directory of specs to walk instead of the specs in the repository.
 */
const outside = process.env['CATALOG_DIR']
const testdata = ['catalog', 'own-catalog'].map((name) =>
  fileURLToPath(new URL(`../../proxy/chain/testdata/${name}`, import.meta.url)),
)
const bundled = await loadCatalog([])
const catalogs: readonly ChainCatalog[] = outside
  ? [await loadCatalog([outside])]
  : [bundled, await loadCatalog(testdata)]
const walk: readonly (readonly [string, ChainCatalog, Chain, ChainInterface])[] = catalogs.flatMap(
  (catalog) =>
    interfacesOf(catalog)
      .filter(({ chain }) => catalog === bundled || chain.ownFile !== null)
      .map(
        ({ chain, offered }) =>
          [`${chain.id} ${offered.apiInterface}`, catalog, chain, offered] as const,
      ),
)

test.each(walk)('%s', async (_, catalog, chain, offered) => {
  const known = someQuestion(offered)
  const unknown = offered.apiInterface === 'rest' ? '/walk/unknown' : 'walk.Unknown/Method'
  await using node = await startSpecNode(offered, [known.text, unknown])
  await using router = await serveRouter({
    chainId: chain.id,
    apiInterface: offered.apiInterface,
    catalog,
    primaries: [node],
    urlSettings: { node: { addons: [...offered.addons] } },
    settings: { 'skip-websocket-verification': true },
  })
  expect(router.pool.hasEligible).toBe(true)
  if (offered.latestBlock) expect(router.pool.tip).toBe(specHead)
  const verb = known.verb
  expect(await ask(router, offered, verb, known.text)).toBe(echoed(offered, verb, known.text))
  expect(await ask(router, offered, 'GET', unknown)).toBe(echoed(offered, 'GET', unknown))
  // After the verification its declared add-ons must be available.
  const [url] = router.pool.upstreams[0]?.urls ?? []
  expect([...(url?.addons ?? [])].toSorted()).toEqual([...offered.addons].toSorted())
})

function echoed({ apiInterface }: ChainInterface, verb: string, text: string): string {
  return echoOf(apiInterface === 'rest' ? `${verb} ${text}` : text)
}

/** Sends a request through the router. */
async function ask(
  router: ServedRouter,
  { apiInterface }: ChainInterface,
  verb: string,
  text: string,
): Promise<unknown> {
  if (apiInterface === 'grpc') return askGrpc(router.port, text)
  if (apiInterface === 'rest') {
    const response = await fetch(router.url + text, { method: verb })
    return response.json()
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: text, params: [] })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(router.url, { method: 'POST', headers, body })
  return ((await response.json()) as { result?: unknown }).result
}

async function askGrpc(port: number, method: string): Promise<string> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  })
  try {
    return await new Promise((resolve, reject) => {
      const same = (value: Buffer) => value
      client.makeUnaryRequest(`/${method}`, same, same, Buffer.alloc(0), (error, value) => {
        if (error) reject(error)
        else resolve(String(value))
      })
    })
  } finally {
    client.close()
  }
}
