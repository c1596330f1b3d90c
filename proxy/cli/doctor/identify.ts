// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { titleOf } from '../../chain/title.ts'
import type { ChainCatalog, ProbeCall } from '../../chain/types.ts'
import { mismatchOf, type ProbeAnswer } from '../../upstream/probe.ts'

/** Interfaces whose probes any of these nodes understands as JSON-RPC. */
const askable = ['jsonrpc', 'tendermintrpc'] as const

/**
 * Identifies the chain of a node by the verifications of all chains.
 * @returns the first one that passes, such as `Solana (SLOTCHAIN)`; null if none does
 */
export async function chainOf(
  catalog: ChainCatalog,
  ask: (call: ProbeCall) => Promise<ProbeAnswer>,
): Promise<string | null> {
  const answers = new Map<string, ProbeAnswer>()
  for (const id of catalog.ids) {
    const chain = catalog.find(id)
    for (const name of askable)
      for (const verification of chain?.interfaces.get(name)?.verifications ?? []) {
        if (verification.name !== 'chain-id' || verification.expected === null) continue
        const { path, body, result } = verification.call
        const key = JSON.stringify([path, body, result])
        const answer = answers.get(key) ?? (await ask(verification.call))
        answers.set(key, answer)
        if (chain && answer.kind === 'value' && mismatchOf(verification, answer.value) === null)
          return titleOf(chain)
      }
  }
  return null
}

const mostMs = 3_000

/** The end of a server's certificate, `2026-01-31`, whether it is valid or not; null if unknown. */
export function certificateEnd(url: string, serverName: string | null): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const { hostname: host, port } = new URL(url)
  const options = { host, port: Number(port || 443), timeout: mostMs, rejectUnauthorized: false }
  // TLS names no server by an IP address.
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
