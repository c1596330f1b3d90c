// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { MalformedAnswerError } from './errors.ts'
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

export function isObject(value: unknown): value is KubeObject {
  const name = membersOf(membersOf(value)['metadata'])['name']
  return typeof name === 'string' && name !== ''
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
