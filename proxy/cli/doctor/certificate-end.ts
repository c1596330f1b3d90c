// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP } from 'node:net'
import { connect } from 'node:tls'

const mostMs = 3_000

/** Date on which a server's certificate ends, such as `2026-01-31`; null if unknown. */
export function certificateEnd(url: string, serverName: string | null): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const { hostname: host, port } = new URL(url)
  const options = { host, port: Number(port || 443), timeout: mostMs, rejectUnauthorized: false }
  // SNI allows no IP addresses.
  const servername = serverName ?? (isIP(host.replace(/^\[|\]$/g, '')) ? '' : host)
  const socket = connect({ ...options, servername }, () => {
    const end = new Date(socket.getPeerCertificate().valid_to)
    resolve(Number.isNaN(end.getTime()) ? null : end.toISOString().slice(0, 10))
    socket.destroy()
  })
  socket.on('error', () => resolve(null)).on('timeout', () => socket.destroy())
  socket.on('close', () => resolve(null))
  return promise
}
