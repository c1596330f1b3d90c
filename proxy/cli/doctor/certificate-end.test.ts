// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { createAuthority } from '../../upstream/testing/certificates.ts'
import { certificateEnd } from './certificate-end.ts'

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
