// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { openAdminServer, textPage } from './admin-server.ts'

const pages = { '/livez': () => textPage(200, 'ok') }

test('a port that is taken is told in a sentence, and can be had when it is free', async () => {
  const first = await openAdminServer('127.0.0.1:0', pages)
  const address = `127.0.0.1:${first.port}`
  await expect(openAdminServer(address, pages)).rejects.toThrow(
    `cannot listen on ${address}: another process has this port. Choose another by --listen-address, or off`,
  )
  expect(await (await fetch(`http://${address}/livez`)).text()).toBe('ok\n')
  await first.close()
  const second = await openAdminServer(address, pages)
  expect((await fetch(`http://${address}/livez`)).status).toBe(200)
  await second.close()
})

test('an address that this machine does not have is told with the words of the machine', async () => {
  await expect(openAdminServer('192.0.2.1:8080', pages)).rejects.toThrow(
    /^cannot listen on 192\.0\.2\.1:8080: .*EADDRNOTAVAIL.*\. Choose another by --listen-address, or off$/,
  )
})
