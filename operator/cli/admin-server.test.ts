// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { openAdminServer, textPage } from './admin-server.ts'

const pages = { '/livez': () => textPage(200, 'ok') }
const noFailure = (path: string) => {
  throw new Error(`${path} failed`)
}

test('a port in use is reported with a remedy, and works once it is free', async () => {
  const first = await openAdminServer('127.0.0.1:0', pages, noFailure)
  const address = `127.0.0.1:${first.port}`
  await expect(openAdminServer(address, pages, noFailure)).rejects.toThrow(
    `cannot listen on ${address}: another process uses this port. Choose another with --listen-address, or off`,
  )
  expect(await (await fetch(`http://${address}/livez`)).text()).toBe('ok\n')
  await first.close()
  const second = await openAdminServer(address, pages, noFailure)
  expect((await fetch(`http://${address}/livez`)).status).toBe(200)
  await second.close()
})

test('a foreign address is reported with the message of the system', async () => {
  await expect(openAdminServer('192.0.2.1:8080', pages, noFailure)).rejects.toThrow(
    /^cannot listen on 192\.0\.2\.1:8080: .*EADDRNOTAVAIL.*\. Choose another with --listen-address, or off$/,
  )
})

test('a page that fails is reported and answered with 500', async () => {
  const failures: string[] = []
  const failing = { '/metrics': () => Promise.reject(new Error('no such gauge')) }
  const server = await openAdminServer('127.0.0.1:0', failing, (path, error) =>
    failures.push(`${path}: ${String(error)}`),
  )
  expect((await fetch(`http://127.0.0.1:${server.port}/metrics`)).status).toBe(500)
  expect(failures).toEqual(['/metrics: Error: no such gauge'])
  await server.close()
})
