// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { loadCatalog } from '../../chain/load-catalog.ts'
import type { ProbeCall } from '../../chain/types.ts'
import { createAuthority } from '../../upstream/testing/certificates.ts'
import { certificateEnd, chainOf } from './identify.ts'

const catalog = await loadCatalog([])

/** A node that answers the first call of a chain's verification, and refuses all others. */
function nodeOf(id: string) {
  const verifications = [...(catalog.find(id)?.interfaces.values() ?? [])].flatMap((each) =>
    each.verifications.filter(({ name }) => name === 'chain-id'),
  )
  return async ({ body }: ProbeCall) => {
    const own = verifications.find(({ call }) => call.body === body)
    return own
      ? ({ kind: 'value', value: own.expected, at: () => undefined } as const)
      : ({ kind: 'refused', why: 'method not found' } as const)
  }
}

test.each([
  ['SLOTCHAIN', 'Solana (SLOTCHAIN)'],
  ['BTC', 'Bitcoin Mainnet (BTC)'],
  ['POLYGON', 'Polygon PoS (POLYGON)'],
  ['ETH1', 'Ethereum Mainnet (ETH1)'],
])('a node of %s is recognised', async (id, title) => {
  expect(await chainOf(catalog, nodeOf(id))).toBe(title)
})

test('a node of no known chain is not recognised', async () => {
  const refuse = async () => ({ kind: 'refused', why: 'method not found' }) as const
  expect(await chainOf(catalog, refuse)).toBeNull()
})

test('the end of a certificate that has expired is read, and of no server none', async () => {
  const authority = await createAuthority('test')
  const { cert, key } = await authority.issue('localhost', [], { from: -30, to: -2 })
  const server = createServer({ cert, key })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const end = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
  expect(await certificateEnd(`https://localhost:${port}`, null)).toBe(end)
  await new Promise((resolve) => server.close(resolve))
  expect(await certificateEnd(`https://127.0.0.1:${port}`, 'localhost')).toBeNull()
})
