// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { canonicalParams, maxCanonicalBytes } from '../json/canonical-params.ts'
import { isAmbiguous } from '../json/place.ts'
import { bufferOf, spells } from '../json/scanner.ts'
import type { HeaderList } from '../upstream/wire.ts'
import type { Call } from './call.ts'

/** Longer keys are replaced by their digest: params of a multicall take 10 KB. */
const maxKeyLength = 512
const none = new Uint8Array(0)

/**
 * Cache key of a call: everything an upstream sees except the id, in canonical form. It does not
 * resolve `latest`, since each cache entry records the head up to which it is valid.
 */
export interface Key {
  /** Prefix that most calls of a method share; empty for a digest. */
  readonly start: string
  /** The params, or the digest of the whole key, up to `end`. */
  readonly bytes: Uint8Array
  readonly end: number
  /** Hash of `start` and `bytes`. */
  readonly hash: number
}

/** The key as text, with one character per byte. */
export function textOf({ start, bytes, end }: Key): string {
  return start + bufferOf(bytes).toString('latin1', 0, end)
}

/** Canonical params of a call, or its body; null for a stream, which cannot be read twice. */
export function paramsOf({ payload, request: { body }, method }: Call): Uint8Array | null {
  const bytes = payload ? canonicalParams(payload, method.anyCaseHex) : (body ?? none)
  return bytes instanceof Uint8Array ? bytes : null
}

interface Start {
  readonly path: string
  readonly form: string | undefined
  readonly text: string
  readonly hash: number
}

/** Makes the keys for the calls of a listener. */
export class Keys {
  readonly #scope: string
  /** The last prefix of JSON-RPC keys by method, which rarely changes. */
  readonly #starts = new Map<string, Start>()

  /** @param scope chain, interface and integrity level, which separate listeners */
  constructor(scope: string) {
    this.#scope = scope
  }

  /** @returns null if the request is too long or a stream */
  of(call: Call): Key | null {
    const { method, payload, reader, directives } = call
    const { path, headers } = call.request
    const bytes = paramsOf(call)
    if (bytes === null || bytes.length > maxCanonicalBytes) return null
    const end = payload ? endOf(bytes, method) : bytes.length
    // Most JSON-RPC requests carry no header but the router's own.
    if (!payload || headers.length > 2 || directives.extension !== null)
      return callKey(this.#start(call, headersText(headers)), bytes, end)
    let start = this.#starts.get(method.name)
    if (start?.path !== path || start.form !== reader.form) {
      const text = this.#start(call, '')
      start = { path, form: reader.form, text, hash: hashOf(text) }
      this.#starts.set(method.name, start)
    }
    return callKey(start.text, bytes, end, start.hash)
  }

  #start({ method, request: { verb, path }, reader, directives }: Call, headers: string): string {
    const form = `${this.#scope} ${reader.form ?? ''} ${directives.extension ?? ''}`
    return `${form}\n${verb} ${pathText(path)}\n${headers}\n${method.name}\n`
  }
}

/** @param hash hash of `start` */
export function callKey(start: string, bytes: Uint8Array, end: number, hash = hashOf(start)): Key {
  if (start.length + end > maxKeyLength) {
    const digest = createHash('sha256').update(start).update(bytes.subarray(0, end))
    const text = digest.digest('base64url')
    return { start: '', bytes: Buffer.from(text), end: text.length, hash: hashOf(text) }
  }
  for (let at = 0; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
  return { start, bytes, end, hash }
}

/** End of the params without the closing bracket, and without a tag that equals the default. */
function endOf(params: Uint8Array, { block, defaultTag: tag }: Call['method']): number {
  const last = Math.max(0, params.length - 1)
  if (block.kind !== 'tag' || !tag || block.tag !== tag) return last
  const at = last - tag.length - 3
  const isLast =
    spells(params, at, at + 2, ',"') &&
    spells(params, at + 2, last - 1, tag) &&
    params[last - 1] === 0x22
  return isLast ? at : last
}

/** Headers that differ per call and do not affect the answer. */
const perCallHeaders = /^(?:grpc-timeout|user-agent|traceparent|tracestate|grpc-trace-bin)$/i

function headersText(headers: HeaderList): string {
  let text = ''
  for (let at = 0; at < headers.length; at += 2)
    if (!perCallHeaders.test(headers[at] as string)) text += `${headers[at]}\n${headers[at + 1]}\n`
  return text
}

/** Query parameters sorted by name; unchanged if two names may denote the same field. */
function pathText(path: string): string {
  const at = path.indexOf('?')
  if (at < 0 || !path.includes('&', at)) return path
  const query = path.slice(at + 1)
  // Gateways accept snake case and camel case for the same field.
  const nameOf = (part: string) => part.replace(/=.*/s, '').replaceAll(/[\W_]/g, '').toLowerCase()
  const parts = query.split('&').map((part) => ({ name: nameOf(part), part }))
  parts.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  const isTwice = parts.some(({ name }, index) => name === parts[index - 1]?.name)
  if (isTwice || isAmbiguous(query)) return path
  return `${path.slice(0, at)}?${parts.map(({ part }) => part).join('&')}`
}

function hashOf(key: string): number {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
  return hash
}
