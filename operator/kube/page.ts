// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { type Clock, deadline } from './clock.ts'

/** The text of a page, or why there is none. */
export type Page = { readonly text: string } | { readonly problem: string }

/** Address of a page. The host is an IP address, so no name is resolved. */
export interface PageAddress {
  readonly host: string
  readonly port: number
  readonly path: string
}

const timeoutMs = 3_000
const maxBytes = 1024 * 1024

/**
 * Requests a page over plain HTTP, on a new connection. The server is not trusted, so time and
 * bytes are limited, and redirects are not followed.
 * @throws the reason of the signal; all other failures are values
 */
export async function readPage(
  address: PageAddress,
  clock: Clock,
  signal: AbortSignal,
): Promise<Page> {
  const late = new Error(`no answer within ${timeoutMs / 1000} s`)
  using limit = deadline(clock, timeoutMs, signal, () => late)
  try {
    const request = get({ ...address, agent: false, signal: limit.signal })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    if (answer.statusCode !== 200) {
      request.destroy()
      return { problem: `HTTP ${answer.statusCode}` }
    }
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of answer as AsyncIterable<Buffer>) {
      bytes += piece.length
      // Leaving the loop closes the connection.
      if (bytes > maxBytes) return { problem: `more than ${maxBytes} bytes` }
      pieces.push(piece)
    }
    return { text: Buffer.concat(pieces).toString() }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted) return { problem: late.message }
    return { problem: (error as NodeJS.ErrnoException).code ?? 'the answer is not HTTP' }
  }
}
