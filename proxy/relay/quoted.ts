// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { header, type Outgoing } from '../upstream/wire.ts'

/** So many words of an answer are looked for in a request of so many bytes. */
const mostCompared = 500
const longestCompared = 16 * 1024
/** Of fewer characters there are some in every request. */
const leastWord = 3
const leastNumber = 4

/**
 * The words of a text that may come from the request, in whatever spelling, lower case: an address, a
 * name, a number. Few letters and digits say nothing. Null where that cannot be seen.
 */
export function repeatedWords(text: string, request: Outgoing): readonly string[] | null {
  const words = new Set(wordsIn(unescaped(text).toLowerCase()))
  const telling = [...words].filter(isTelling)
  if (!isSeen(request) || telling.length > mostCompared) return null
  const texts = spellings(textOf(request))
  const held = new Set(texts.flatMap(wordsIn))
  return telling.filter((word) => {
    const bare = word.replace(/^0x/, '')
    return held.has(word) || (isLong(bare) && texts.some((each) => each.includes(bare)))
  })
}

function wordsIn(text: string): readonly string[] {
  return text.match(/[\w@/+-]+(?:\.[\w@/+-]+)*/g) ?? []
}

function isTelling(word: string): boolean {
  return word.length >= (/\D/.test(word) ? leastWord : leastNumber)
}

/** It does not stand in another word by chance. */
function isLong(word: string): boolean {
  return word.length >= 8 || (word.length >= 4 && /\d/.test(word))
}

function isSeen({ headers, body }: Outgoing): boolean {
  const isShort = body === null || (body instanceof Uint8Array && body.length <= longestCompared)
  return isShort && ['', 'identity'].includes(header(headers, 'grpc-encoding') ?? '')
}

function textOf({ path, headers, body }: Outgoing): string {
  const sent = body instanceof Uint8Array ? Buffer.from(body).toString('latin1') : ''
  return [path, sent, ...headers].join('\n')
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
