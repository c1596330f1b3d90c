// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ApiError, MalformedAnswerError, type Status } from './errors.ts'
import type { KubeObject, ObjectList } from './object.ts'

/*
 * What stands between us and the API server may answer in its place, and with status 200. What comes is taken for an
 * answer only if it has the form of one.
 */

/** Reads an answer of JSON. @param what was asked @throws MalformedAnswerError when it is no such answer */
export type ReadAnswer<T> = (what: string, answer: unknown) => T

/** One object. */
export function readObject(what: string, answer: unknown): KubeObject {
  if (!isObject(answer))
    throw new MalformedAnswerError(`${what}: the answer is no object with a name`)
  return answer
}

/** One page of a list. The items of a list leave out their type, which the list says once; those of a watch do not. */
export function readList<T extends KubeObject>(
  what: string,
  answer: unknown,
  type: Pick<KubeObject, 'apiVersion' | 'kind'>,
): ObjectList<T> {
  const { items, metadata } = membersOf(answer)
  const { resourceVersion, continue: from } = membersOf(metadata)
  const isList = (items === null || Array.isArray(items)) && typeof resourceVersion === 'string'
  if (!isList) throw new MalformedAnswerError(`${what}: the answer is no list`)
  const objects: readonly unknown[] = items ?? []
  if (!objects.every(isObject))
    throw new MalformedAnswerError(`${what}: an item of the list is no object with a name`)
  return {
    items: objects.map((item) => ({ ...type, ...(item as T) })),
    resourceVersion,
    ...(typeof from === 'string' && from !== '' && { continue: from }),
  }
}

/** The names of the resources that a group has. */
export function readResources(what: string, answer: unknown): readonly string[] {
  const { resources } = membersOf(answer)
  const names = Array.isArray(resources) ? resources.map((each) => membersOf(each)['name']) : null
  if (names?.every((name) => typeof name === 'string')) return names
  throw new MalformedAnswerError(`${what}: the answer is no list of resources`)
}

/** An answer of which nothing is wanted. */
export function readNothing(): void {}

function isObject(value: unknown): value is KubeObject {
  const name = membersOf(membersOf(value)['metadata'])['name']
  return typeof name === 'string' && name !== ''
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** More than the largest object that etcd takes, in any encoding. */
const mostLineBytes = 16 * 1024 * 1024

/**
 * The JSON values of a stream with one a line. What stands behind the last line end when the
 * stream ends is a line that was cut: it is dropped.
 * @throws MalformedAnswerError for a line that is no JSON or has no end
 */
export async function* readJsonLines(
  what: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator {
  let parts: Uint8Array[] = []
  let waiting = 0
  for await (const chunk of body) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)])
      parts = []
      waiting = 0
      from = end + 1
      if (line.length > 0) yield parse(what, line)
    }
    if (from === chunk.length) continue
    parts.push(chunk.subarray(from))
    waiting += chunk.length - from
    if (waiting > mostLineBytes)
      throw new MalformedAnswerError(`${what}: one event is longer than ${mostLineBytes} bytes`)
  }
}

function parse(what: string, line: Buffer): unknown {
  try {
    return JSON.parse(line.toString())
  } catch (cause) {
    throw new MalformedAnswerError(`${what}: an event is no JSON`, { cause })
  }
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Nothing changed, and this is how far the server has come. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

interface RawEvent {
  readonly type?: unknown
  readonly object?: KubeObject & Status
}

/**
 * The events of a watch's body.
 * @throws ApiError for an ERROR event, MalformedAnswerError for what is no event
 */
export async function* readWatch<T extends KubeObject>(
  what: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of readJsonLines(what, body)) {
    const { type, object } = (line ?? {}) as RawEvent
    if (type === 'ERROR') throw new ApiError(what, object?.code ?? 500, object ?? {})
    const resourceVersion = object?.metadata?.resourceVersion
    if (typeof resourceVersion !== 'string')
      throw new MalformedAnswerError(`${what}: an event has no object with a resourceVersion`)
    if (type === 'BOOKMARK') yield { type, resourceVersion }
    else if (!isObject(object))
      throw new MalformedAnswerError(`${what}: an event has an object without a name`)
    else if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')
      yield { type, object: object as KubeObject as T }
    else throw new MalformedAnswerError(`${what}: an event has the unknown type ${String(type)}`)
  }
}
