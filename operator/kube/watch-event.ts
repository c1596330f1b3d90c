// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isObject } from './answers.ts'
import { ApiError, MalformedAnswerError, type Status } from './errors.ts'
import type { KubeObject } from './object.ts'
import { readJsonLines } from './json-lines.ts'

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
