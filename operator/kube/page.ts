// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { type Clock, deadline } from './clock.ts'

/** The text of a page, or a clause that says why there is none. */
export type Page = { readonly text: string } | { readonly problem: string }

/** Where a page is. Its host is an IP address: no name is looked up. */
export interface PageAddress {
  readonly host: string
  readonly port: number
  readonly path: string
}

const timeoutMs = 3_000
const maxBytes = 1024 * 1024

/**
 * Asks for a page over plain HTTP, on a connection of its own. What answers is not trusted: its time and its bytes are
 * bounded, and a redirection is not followed.
 *
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
      // To leave the loop ends the connection.
      if (bytes > maxBytes) return { problem: `more than ${maxBytes} bytes` }
      pieces.push(piece)
    }
    return { text: Buffer.concat(pieces).toString() }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted) return { problem: late.message }
    return { problem: (error as NodeJS.ErrnoException).code ?? 'the answer is no HTTP' }
  }
}
