// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { decoded } from '../../config/secret.ts'
import type { NodeUrlConfig } from '../../config/types.ts'
import { bufferOf } from '../../json/scanner.ts'
import { header, type HeaderList, type Incoming } from '../wire.ts'

/** Longer bodies pass unchanged. */
const maxMaskedBytes = 64 * 1024

/**
 * Masks the keys of one or more URLs in errors of their nodes, such as a page that repeats the
 * request URL or a header. It finds keys verbatim and percent-encoded. Each byte becomes an
 * asterisk, so no length changes. Results are never scanned.
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

  /** The same answer without the keys in its headers, body and trailers. */
  incoming(incoming: Incoming): Incoming {
    if (this.#pattern === null) return incoming
    const { headers, body } = incoming
    // gRPC messages are results; gRPC errors are in trailers.
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
      const safe = isBinary ? this.#binary(value) : this.text(value)
      if (safe !== value) (masked ??= [...headers])[at] = safe
    }
    return masked ?? headers
  }

  /** gRPC metadata in base64, such as the details of an error. */
  #binary(value: string): string {
    const bytes = Buffer.from(value, 'base64')
    const masked = this.bytes(bytes)
    return masked === bytes ? value : Buffer.from(masked).toString('base64').replace(/=+$/, '')
  }

  text(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, stars)
  }
}

/** Keeps a number a number, since it may be outside a JSON string. */
function stars(found: string): string {
  return (/^\d+$/.test(found) ? '1' : '*').repeat(found.length)
}

/**
 * A last line of defence for logs: replaces every occurrence of a secret value, including its
 * spellings in JSON, URLs and base64. Values that are not distinctive are not replaced.
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

/** Spellings of a key in a text: as in the config, decoded, and percent-encoded. */
function spellingsOf(key: string): readonly string[] {
  const plain = decoded(key).toWellFormed()
  if (!isDistinctive(plain)) return []
  // A query decodes a plus as a space, so either may be the original.
  const texts = [plain, plain.replaceAll(' ', '+')]
  const encoded = texts.flatMap((text) => [text, encodeURI(text), encodeURIComponent(text)])
  // A query encodes a space as a plus.
  const inQuery = encoded.map((each) => each.replaceAll(/ |%20/g, '+'))
  return [key, ...encoded, ...inQuery]
}

/** Whether a text is unlikely to occur by chance: at least 6 characters, and no short number. */
function isDistinctive(text: string): boolean {
  return text.length >= 6 && !/^\d{1,11}$/.test(text)
}

/** Matches any of the texts, the longest first, since one text may start with another. */
function anyOf(texts: readonly string[], flags: string): RegExp | null {
  const longestFirst = [...new Set(texts)].toSorted((a, b) => b.length - a.length)
  const pattern = longestFirst.map((text) => RegExp.escape(text)).join('|')
  return pattern === '' ? null : new RegExp(pattern, flags)
}
