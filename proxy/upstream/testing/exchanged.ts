// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { WebSocket } from 'ws'

/**
 * Resolves when both ends of each connection have read all data from the other end, including
 * replies. For tests with real sockets and a virtual clock.
 */
export async function exchanged(...sockets: readonly (WebSocket | undefined)[]): Promise<void> {
  for (let trip = 0; trip < 2; trip++)
    await Promise.all(
      sockets.map(async (socket) => {
        if (socket?.readyState !== WebSocket.OPEN) return
        // The event that does not come must not leave its listeners behind.
        const over = new AbortController()
        const answered = ['pong', 'close'].map((event) => once(socket, event, over))
        socket.ping()
        await Promise.race(answered)
        over.abort()
      }),
    )
}
