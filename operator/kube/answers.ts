// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ApiError, MalformedAnswerError, type Status } from './errors.ts'
import type { KubeObject, ObjectList } from './object.ts'

/*
 * A proxy before the API server may answer instead of it, and with status 200. An answer counts only if it has the form
 * of one.
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

/** An answer of which nothing is wanted. */
export function readNothing(): void {}

function isObject(value: unknown): value is KubeObject {
  const name = membersOf(membersOf(value)['metadata'])['name']
  return typeof name === 'string' && name !== ''
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/**
 * The JSON values of a stream with one value per line. Text behind the last line end is a line
 * that was cut: it is dropped.
 * @throws MalformedAnswerError for a line that is no JSON
 */
export async function* readJsonLines(
  what: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield parse(what, line)
  }
}

function parse(what: string, line: string): unknown {
  try {
    return JSON.parse(line)
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
