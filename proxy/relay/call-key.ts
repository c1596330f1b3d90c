// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { canonicalParams, maxCanonicalBytes } from '../json/canonical-params.ts'
import { isAmbiguous } from '../json/place.ts'
import { bufferOf, spells } from '../json/scanner.ts'
import type { HeaderList } from '../upstream/wire.ts'
import type { Call } from './call.ts'

/** A longer one is kept as its digest: the params of a call of many contracts are 10 KB. */
const maxKeyLength = 512
const none = new Uint8Array(0)

/**
 * What the answer to a call is kept under: all that an upstream sees of it but its id, in one form for all spellings.
 * Which block `latest` is, is not in it: an entry knows up to which head it holds.
 */
export interface Key {
  /** What most calls of a method share; empty for a digest. */
  readonly start: string
  /** The params, or the digest of all, up to `end`. */
  readonly bytes: Uint8Array
  readonly end: number
  /** Of both. */
  readonly hash: number
}

/** One character for each byte. */
export function textOf({ start, bytes, end }: Key): string {
  return start + bufferOf(bytes).toString('latin1', 0, end)
}

/** What calls of one method differ by, the same for all spellings; null for a stream, whose bytes are gone. */
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
  /** What the last keys in JSON-RPC began with, by method: mostly the same for each. */
  readonly #starts = new Map<string, Start>()

  /** @param scope what they share with others: chain, interface, level of checks */
  constructor(scope: string) {
    this.#scope = scope
  }

  /** @returns null for a request that is too long */
  of(call: Call): Key | null {
    const { method, payload, reader, directives } = call
    const { path, headers } = call.request
    const bytes = paramsOf(call)
    if (bytes === null || bytes.length > maxCanonicalBytes) return null
    const end = payload ? endOf(bytes, method) : bytes.length
    // Most requests in JSON-RPC have the router's own header and no other.
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

/** @param hash of the start */
export function callKey(start: string, bytes: Uint8Array, end: number, hash = hashOf(start)): Key {
  if (start.length + end > maxKeyLength) {
    const digest = createHash('sha256').update(start).update(bytes.subarray(0, end))
    const text = digest.digest('base64url')
    return { start: '', bytes: Buffer.from(text), end: text.length, hash: hashOf(text) }
  }
  for (let at = 0; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
  return { start, bytes, end, hash }
}

/** Params end before their last bracket, or before the block where it is the one that is meant without it. */
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

/** Headers that change with each call, and no answer. */
const ofOneCall = /^(?:grpc-timeout|user-agent|traceparent|tracestate|grpc-trace-bin)$/i

function headersText(headers: HeaderList): string {
  let text = ''
  for (let at = 0; at < headers.length; at += 2)
    if (!ofOneCall.test(headers[at] as string)) text += `${headers[at]}\n${headers[at + 1]}\n`
  return text
}

/** Query parameters sorted by name; unchanged if two names could be the same field. */
function pathText(path: string): string {
  const at = path.indexOf('?')
  if (at < 0 || !path.includes('&', at)) return path
  const query = path.slice(at + 1)
  // Gateways accept a field in snake case and in camel case.
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
