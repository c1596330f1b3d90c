// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ApiError, MalformedAnswerError, type Status } from './errors.ts'
import type { KubeObject, ObjectList } from './object.ts'

/*
 * A proxy in front of the API server may answer in its place with status 200, so every answer is
 * validated.
 */

/** Validates a JSON answer. @param what names the request @throws MalformedAnswerError */
export type ReadAnswer<T> = (what: string, answer: unknown) => T

/** Returns the answer if it is an object with a name. */
export function readObject(what: string, answer: unknown): KubeObject {
  if (!isObject(answer))
    throw new MalformedAnswerError(`${what}: the answer is not an object with a name`)
  return answer
}

/** Returns one page of a list. List items omit their apiVersion and kind, so each gets `type`. */
export function readList<T extends KubeObject>(
  what: string,
  answer: unknown,
  type: Pick<KubeObject, 'apiVersion' | 'kind'>,
): ObjectList<T> {
  const { items, metadata } = membersOf(answer)
  const { resourceVersion, continue: from } = membersOf(metadata)
  const isList = (items === null || Array.isArray(items)) && typeof resourceVersion === 'string'
  if (!isList) throw new MalformedAnswerError(`${what}: the answer is not a list`)
  const objects: readonly unknown[] = items ?? []
  if (!objects.every(isObject))
    throw new MalformedAnswerError(`${what}: an item of the list is not an object with a name`)
  return {
    items: objects.map((item) => ({ ...type, ...(item as T) })),
    resourceVersion,
    ...(typeof from === 'string' && from !== '' && { continue: from }),
  }
}

/** Ignores the answer. */
export function readNothing(): void {}

function isObject(value: unknown): value is KubeObject {
  const name = membersOf(membersOf(value)['metadata'])['name']
  return typeof name === 'string' && name !== ''
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/**
 * Yields the JSON values of a stream with one value per line. Drops an unterminated last line.
 * @throws MalformedAnswerError for a line that is not JSON
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
    throw new MalformedAnswerError(`${what}: an event is not JSON`, { cause })
  }
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Nothing has changed up to this version. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

interface RawEvent {
  readonly type?: unknown
  readonly object?: KubeObject & Status
}

/**
 * Yields the events in the body of a watch.
 * @throws ApiError for an ERROR event, MalformedAnswerError for anything that is not an event
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
