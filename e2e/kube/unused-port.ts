// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const spread = 5_000

/**
 * A free TCP port of loopback from `least` on. It is below the ports of outgoing connections, so that
 * none of them takes it before the program listens.
 */
export async function unusedPort(least: number): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = least + randomInt(spread)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${least} to ${least + spread} is free`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => {
      resolve(false)
    })
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
