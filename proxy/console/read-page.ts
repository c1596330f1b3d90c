// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { clean } from './format.ts'

/** A page of an admin address, or why it cannot be read, as a clause. */
type Page =
  { readonly text: string; readonly fault: null } | { readonly text: null; readonly fault: string }
export type ReadPage = (url: string) => Promise<Page>

/** Said of an answer that no page of a router is: a port of clients is easily taken for one. */
export const isAdmin = 'is it an admin address (7779 by default)? It answers'
const mostMs = 3_000
/** The facts of thousands of upstreams. */
const mostBytes = 16 * 1024 * 1024

/** Reads over HTTP. Never rejects. */
export const readPage: ReadPage = async (url) => {
  try {
    const signal = AbortSignal.timeout(mostMs)
    const answer = await fetch(url, { signal, redirect: 'error' })
    const pieces: Uint8Array[] = []
    let left = mostBytes
    for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      left -= piece.byteLength
      if (left < 0) return { text: null, fault: 'its answer is longer than 16 MiB' }
      pieces.push(piece)
    }
    const text = Buffer.concat(pieces).toString()
    if (answer.ok) return { text, fault: null }
    const said = clean(text.trim().slice(0, 300))
    const isMissing = answer.status === 404
    // A router that knows no such page or call says so itself.
    if (isMissing && answer.headers.get('content-type')?.startsWith('text/plain'))
      return { text: null, fault: said }
    const begin = isMissing ? isAdmin : 'it answers'
    return { text: null, fault: `${begin} with HTTP ${answer.status}: ${said}` }
  } catch (error) {
    const { name, message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException }
    if (name === 'TimeoutError')
      return { text: null, fault: `no answer within ${mostMs / 1_000} s` }
    return { text: null, fault: `no answer: ${cause?.code ?? cause?.message ?? message}` }
  }
}
