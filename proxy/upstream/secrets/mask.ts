// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { decoded } from '../../config/secret.ts'
import type { NodeUrlConfig } from '../../config/types.ts'
import { bufferOf } from '../../json/scanner.ts'
import { header, type HeaderList, type Incoming } from '../wire.ts'

/** Longer bodies are passed on as they are. */
const maxMaskedBytes = 64 * 1024

/**
 * Hides the keys of a URL, or of several, in errors of its node: a page that names the URL that it was asked by, an error that
 * repeats a header. Keys are found as they are and percent-encoded. Each byte of a key becomes an asterisk, so
 * that no length changes. Results are never scanned.
 */
export class SecretMask {
  readonly #pattern: RegExp | null

  constructor(...urls: readonly NodeUrlConfig[]) {
    const secrets = urls.flatMap(({ url, authHeaders, authQuery }) => [
      url,
      ...authHeaders.values(),
      ...authQuery.values(),
    ])
    const keys = secrets.flatMap((secret) => secret.keys()).map((key) => key.trim())
    // Bytes are searched as Latin-1.
    const spellings = keys.flatMap(spellingsOf).map((each) => Buffer.from(each).toString('latin1'))
    this.#pattern = anyOf(spellings, 'gi')
  }

  /** The same answer without the keys: its headers, its body, its trailers. */
  incoming(incoming: Incoming): Incoming {
    if (this.#pattern === null) return incoming
    const { headers, body } = incoming
    // Messages of gRPC are results; its errors stand in trailers.
    const isGrpc = header(headers, 'content-type')?.startsWith('application/grpc') ?? false
    return {
      ...incoming,
      headers: this.#headers(headers),
      body:
        isGrpc || !(body instanceof Uint8Array) || body.length > maxMaskedBytes
          ? body
          : this.bytes(body),
      trailers: () => this.#headers(incoming.trailers()),
    }
  }

  bytes(bytes: Uint8Array): Uint8Array {
    if (this.#pattern === null) return bytes
    const text = bufferOf(bytes).toString('latin1')
    const masked = this.text(text)
    return masked === text ? bytes : Buffer.from(masked, 'latin1')
  }

  #headers(headers: HeaderList): HeaderList {
    let masked: string[] | null = null
    for (let at = 1; at < headers.length; at += 2) {
      const value = headers[at] as string
      const isBinary = (headers[at - 1] as string).toLowerCase().endsWith('-bin')
      const kept = isBinary ? this.#binary(value) : this.text(value)
      if (kept !== value) (masked ??= [...headers])[at] = kept
    }
    return masked ?? headers
  }

  /** Metadata of gRPC in base64, such as the details of an error. */
  #binary(value: string): string {
    const bytes = Buffer.from(value, 'base64')
    const masked = this.bytes(bytes)
    return masked === bytes ? value : Buffer.from(masked).toString('base64').replace(/=+$/, '')
  }

  text(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, stars)
  }
}

/** A number stays a number: it may stand outside of a string of JSON. */
function stars(found: string): string {
  return (/^\d+$/.test(found) ? '1' : '*').repeat(found.length)
}

/**
 * A last line of defence for logs: replaces every occurrence of a secret value, also as it is written in JSON, in a URL
 * and in base64. A value that is not distinctive is not replaced.
 */
export function createRedactor(values: readonly string[]): (text: string) => string {
  const forms = values
    .flatMap((value) => [value, value.trim()])
    .filter(isDistinctive)
    .flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      Buffer.from(value).toString('base64').replace(/=+$/, ''),
      ...spellingsOf(value),
    ])
  const pattern = anyOf(forms, 'g')
  return (text) => (pattern === null ? text : text.replace(pattern, '[redacted]'))
}

/** How a text may repeat a key: as it stands in the config, decoded, and percent-encoded. */
function spellingsOf(key: string): readonly string[] {
  const plain = decoded(key).toWellFormed()
  if (!isDistinctive(plain)) return []
  // What a query reads as a space may have been written as a plus.
  const texts = [plain, plain.replaceAll(' ', '+')]
  const encoded = texts.flatMap((text) => [text, encodeURI(text), encodeURIComponent(text)])
  // A query has a plus for a space.
  const inQuery = encoded.map((each) => each.replaceAll(/ |%20/g, '+'))
  return [key, ...encoded, ...inQuery]
}

/** Whether a text can be told from others: not with less than 6 characters, nor as a short number. */
function isDistinctive(text: string): boolean {
  return text.length >= 6 && !/^\d{1,11}$/.test(text)
}

/** Matches any of the texts, the longest first, or one that begins with another would be found only in part. */
function anyOf(texts: readonly string[], flags: string): RegExp | null {
  const longestFirst = [...new Set(texts)].toSorted((a, b) => b.length - a.length)
  const pattern = longestFirst.map((text) => RegExp.escape(text)).join('|')
  return pattern === '' ? null : new RegExp(pattern, flags)
}
