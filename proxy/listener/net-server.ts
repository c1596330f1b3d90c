// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AddressInfo, Server } from 'node:net'
import type { Address } from '../config/types.ts'

/** Connections that may wait to be taken. */
const backlog = 4_096

/** A drain waits until nothing was asked for this long. */
export const drainQuietMs = 500
export const drainCheckMs = 10
/** What a client gets to answer the goodbye on its idle connection. */
export const closeGraceMs = 1_000

/** @returns where it listens @throws Error naming the address */
export function listenOn(server: Server, { host, port }: Address): Promise<Address> {
  return new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => {
      reject(new Error(`cannot listen on ${host}:${port}: ${cause.message}`, { cause }))
    }
    server.once('error', failed)
    server.listen({ host, port, backlog }, () => {
      server.off('error', failed)
      // From here on an error is one connection that could not be taken.
      server.on('error', (error) => {
        process.emitWarning(error)
      })
      resolve({ host, port: (server.address() as AddressInfo).port })
    })
  })
}

/** Takes no more connections. Resolves when the last one has ended. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // It fails only when the server was never started, which leaves nothing to close either.
    server.close(() => {
      resolve()
    })
  })
}
