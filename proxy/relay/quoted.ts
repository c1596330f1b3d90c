// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { header, type Outgoing } from '../upstream/wire.ts'

/** In a longer request anything may stand. */
const longestText = 256 * 1024

/**
 * Nodes repeat in their errors what they were sent. Words that the request holds, in whatever
 * spelling, say nothing about the node: else anybody could have it left alone, or blamed, by asking
 * for `ratelimit`.
 *
 * @returns whether words may come from the request; true where that cannot be seen
 */
export function quotedFrom({ path, headers, body }: Outgoing): (words: string) => boolean {
  let texts: readonly string[] | null = null
  const isUnseen =
    (body !== null && !(body instanceof Uint8Array && body.length <= longestText)) ||
    !['', 'identity'].includes(header(headers, 'grpc-encoding') ?? '')
  return (words) => {
    if (words === '') return false
    if (isUnseen) return true
    const sent = body === null ? '' : Buffer.from(body).toString('latin1')
    texts ??= spellings([path, sent, ...headers].join('\n'))
    const wanted = words.toLowerCase()
    return texts.some((text) => text.includes(wanted))
  }
}

/**
 * Whether a text repeats more of the request than plain words that anybody might use, in whatever
 * spelling: an address, a hash, a name, a key. True where that cannot be seen.
 */
export function repeats(text: string, request: Outgoing): boolean {
  const isQuoted = quotedFrom(request)
  const words = new Set(unescaped(text).match(/[\w@/+-]+(?:\.[\w@/+-]+)*/g))
  return [...words].some((word) => isTelling(word) && isQuoted(word))
}

function isTelling(word: string): boolean {
  return word.length >= 8 || (word.length >= 4 && /\d/.test(word))
}

/** What a node may have read: the text itself, without escapes, and what stands in it as base64 or hex. */
function spellings(raw: string): readonly string[] {
  const plain = unescaped(raw)
  const base64 = [...plain.matchAll(/[\w+/-]{8,}/g)].map(([each]) => decoded(each, 'base64'))
  const hex = [...plain.matchAll(/[0-9a-f]{8,}/gi)].map(([each]) => decoded(each, 'hex'))
  const asForm = plain.replaceAll('+', ' ')
  return [raw, plain, asForm, ...base64, ...hex].map((text) => text.toLowerCase())
}

function decoded(text: string, encoding: 'base64' | 'hex'): string {
  return Buffer.from(text, encoding).toString('latin1')
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** Percent-encoding and the escapes of JSON. Bytes above ASCII are in no words that matter. */
function unescaped(text: string): string {
  return text
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(?:u([0-9a-f]{4})|(.))/gis, (_, hex: string | undefined, one: string) =>
      hex === undefined ? (escapes[one] ?? one) : String.fromCharCode(Number.parseInt(hex, 16)),
    )
}
