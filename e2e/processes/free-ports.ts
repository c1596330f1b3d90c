// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const [leastPort, endPort] = [20_000, 32_000]
const reservations: Socket[] = []

/** Reserves a free TCP port on loopback until it is released. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}

/**
 * Free TCP ports on loopback, for programs that take a port as input. They stay reserved on this
 * machine until `releasePorts`, or until this process ends. They are below the ephemeral range, so
 * no outgoing connection can take one before the program listens.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let tries = 0; tries < count + 50 && ports.length < count; tries++) {
    const port = randomInt(leastPort, endPort)
    if ((await reserve(port)) && (await isFree(port))) ports.push(port)
  }
  if (ports.length < count)
    throw new Error(`too few ports from ${leastPort} to ${endPort} are free`)
  return ports
}

/** Releases all ports that this process reserved. */
export function releasePorts(): void {
  for (const socket of reservations.splice(0)) socket.close()
}

/** Reserves by binding the UDP port of the same number, which the system frees at exit. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  try {
    await once(socket.bind({ port, address: '127.0.0.1', exclusive: true }), 'listening')
    reservations.push(socket)
    return true
  } catch (error) {
    socket.close()
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
