// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { ApiInterface } from '../config/types.ts'
import type { Reply } from '../relay/reply.ts'

/** Two answers are the same if these texts are. */
export interface Digest {
  readonly text: string
  /** The beginning of what was compared, for the log. */
  readonly excerpt: string
}

const maxExcerptLength = 256

/**
 * What of an answer is compared: the result as JSON with sorted keys, without the ignored fields; of an error its
 * class; of what is no JSON the bytes.
 *
 * @param body all of it
 */
export function digestOf(
  { refusal }: Pick<Reply, 'refusal'>,
  body: Uint8Array,
  apiInterface: ApiInterface,
  ignored: readonly string[],
): Digest {
  if (refusal !== null) return { text: `error ${refusal.name}`, excerpt: `error ${refusal.name}` }
  const compared =
    apiInterface === 'grpc' ? body : (canonicalResult(body, apiInterface, ignored) ?? body)
  const excerpt =
    typeof compared === 'string'
      ? compared.slice(0, maxExcerptLength)
      : Buffer.from(compared.subarray(0, maxExcerptLength / 2)).toString('hex')
  return { text: hash('sha256', compared, 'hex'), excerpt }
}

/** Null for what is no JSON, or nested too deep. */
function canonicalResult(
  body: Uint8Array,
  apiInterface: ApiInterface,
  ignored: readonly string[],
): string | null {
  try {
    const document = JSON.parse(Buffer.from(body).toString(), exactNumber) as Json
    const result = apiInterface === 'rest' ? document : resultIn(document)
    for (const path of ignored) remove(result, path.split('.'))
    return canonical(result)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json } | ExactNumber

/** Nodes of Tendermint RPC leave the envelope out of answers in URI style. */
function resultIn(document: Json): Json {
  if (!isObject(document)) return document
  return Object.hasOwn(document, 'result') ? (document['result'] as Json) : document
}

/** A number that a double cannot hold. */
class ExactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/** Two long numbers must not be the same since they are rounded. */
function exactNumber(_name: string, value: Json, context?: { source?: string }): Json {
  const { source } = context ?? {}
  if (typeof value !== 'number' || source === undefined || source.length < 16) return value
  return new ExactNumber(source)
}

function canonical(value: Json): string {
  if (value instanceof ExactNumber) return value.source
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] as Json)}`)
  return `{${members.join(',')}}`
}

/** Removes a field; `*` is every element of a list. */
function remove(value: Json, [name = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) {
    if (name === '*') for (const each of value) remove(each, rest)
  } else if (!isObject(value)) return
  else if (rest.length === 0) delete value[name]
  else if (Object.hasOwn(value, name)) remove(value[name] as Json, rest)
}

function isObject(value: Json): value is { [name: string]: Json } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof ExactNumber) &&
    !Array.isArray(value)
  )
}
