// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { header, type Outgoing } from '../upstream/wire.ts'

/**
 * Whether words of a node's error may come from the request itself. Nodes repeat what they cannot
 * read, and whoever writes "rate limit" into an address must not have the node left alone for it.
 * Looks into the request only when it is asked. What cannot be looked into may hold anything.
 */
export function quotes(request: Outgoing): (words: string) => boolean {
  let text: string | null | undefined
  return (words) => {
    if (text === undefined) text = textOf(request)
    return text === null || text.includes(words.toLowerCase())
  }
}

/** All that the client wrote, as it stands and decoded, in lower case; null when that is unknown. */
function textOf({ path, headers, body }: Outgoing): string | null {
  if (body !== null && !(body instanceof Uint8Array)) return null
  if ((header(headers, 'grpc-encoding') ?? 'identity') !== 'identity') return null
  const sent = Buffer.from(body ?? []).toString()
  const spaced = path.replaceAll('+', ' ')
  const parts = [path, percentDecoded(spaced), sent, percentDecoded(sent), unescaped(sent)]
  return [...parts, ...headers].join('\n').toLowerCase()
}

/** What is no coding of a character stays as it is. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (coded) =>
    Buffer.from(coded.replaceAll('%', ''), 'hex').toString(),
  )
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }

/** Text of JSON with its escapes undone. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code?: string, one = '') =>
    code === undefined ? (escapes[one] ?? one) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
