// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const [leastPort, endPort] = [20_000, 32_000]

/** A TCP port of loopback that is free at this moment. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

/**
 * Different TCP ports of loopback that are free at this moment. They are below the ports of outgoing
 * connections, so that none of these takes one before the program listens.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let tries = 0; tries < count + 50 && ports.size < count; tries++) {
    const port = randomInt(leastPort, endPort)
    if (await isFree(port)) ports.add(port)
  }
  if (ports.size < count) throw new Error(`too few ports from ${leastPort} to ${endPort} are free`)
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
