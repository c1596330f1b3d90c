// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { canonicalParams } from '../json/canonical-params.ts'
import { bufferOf } from '../json/scanner.ts'
import type { Call } from '../relay/call.ts'
import type { HeaderList } from '../upstream/wire.ts'

/** A longer text is kept as its digest. */
const maxKeyLength = 512
/** A longer request is not looked at. */
const maxBodyBytes = 64 * 1024

/**
 * What the answer to a call is kept under: all that an upstream sees of it but its id, in one form for all
 * spellings. Which block `latest` is, is not in it: an entry knows up to which head it holds.
 * @param scope what it shares with other calls of its listener: chain, interface, level of checks
 * @returns null for a request that is too long
 */
export function keyOf(
  { asked, request, payload, reader, directives }: Call,
  scope: string,
): string | null {
  const { verb, path, headers, body } = request
  let params: string | null
  if (payload) params = canonicalParams(payload)
  else if (body === null) params = ''
  else if (body instanceof Uint8Array && body.length <= maxBodyBytes)
    params = bufferOf(body).toString('latin1')
  else return null
  if (params === null) return null
  const { block, defaultTag } = asked
  if (block.kind === 'tag' && block.tag === defaultTag && params.endsWith(`,"${defaultTag}"]`))
    params = `${params.slice(0, -defaultTag.length - 4)}]`
  const form = `${scope} ${reader.form ?? ''} ${directives.extension ?? ''}`
  // Most requests in JSON-RPC have the router's own header and no other.
  const list = payload && headers.length === 2 ? '' : headersText(headers)
  const text = `${form}\n${verb} ${pathText(path)}\n${list}\n${asked.method}\n${params}`
  return text.length > maxKeyLength ? hash('sha256', text, 'base64url') : text
}

/** Headers that change with each call, and no answer. */
const ofOneCall = /^(?:grpc-timeout|user-agent|traceparent|tracestate|grpc-trace-bin)$/i

function headersText(headers: HeaderList): string {
  let text = ''
  for (let at = 0; at < headers.length; at += 2)
    if (!ofOneCall.test(headers[at] as string)) text += `${headers[at]}\n${headers[at + 1]}\n`
  return text
}

/** Parameters of a query in the order of their names. */
function pathText(path: string): string {
  const at = path.indexOf('?')
  if (at < 0 || !path.includes('&', at)) return path
  const parts = path.slice(at + 1).split('&')
  const nameOf = (part: string) => part.split('=', 1)[0] as string
  const sorted = parts.toSorted((a, b) =>
    nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b)),
  )
  return `${path.slice(0, at)}?${sorted.join('&')}`
}

export function hashOf(key: string): number {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
  return hash
}
