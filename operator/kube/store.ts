// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isOlder, objectKey, type KubeObject } from './object.ts'

/** One object came, changed or went. A deleted one is in `object`, in the last state that was seen. */
export interface Change<T extends KubeObject> {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly object: T
  /** The object before the change; null for one that is added. */
  readonly previous: T | null
}

/** The values under which an object is found by an index. */
export type IndexOf<T extends KubeObject> = (object: T) => readonly string[]

/**
 * What is known of the objects of one kind, by key and by indexes. Objects are frozen to their depth:
 * all readers share them, and a write to one throws.
 *
 * A reflector keeps it. Another object under the same name is reported as a deletion and an addition, never as an update.
 */
export class Store<T extends KubeObject, I extends string = never> {
  readonly #objects = new Map<string, T>()
  readonly #indexes: ReadonlyMap<I, { of: IndexOf<T>; keys: Map<string, Set<string>> }>
  readonly #listeners = new Set<(change: Change<T>) => void>()

  constructor(...[indexes]: [I] extends [never] ? [] : [Readonly<Record<I, IndexOf<T>>>]) {
    const entries = Object.entries(indexes ?? {}) as [I, IndexOf<T>][]
    this.#indexes = new Map(entries.map(([name, of]) => [name, { of, keys: new Map() }]))
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  list(): T[] {
    return [...this.#objects.values()]
  }

  /** The objects that the index has under the value, in no particular order. */
  byIndex(index: I, value: string): T[] {
    const keys = this.#indexes.get(index)?.keys.get(value) ?? []
    return [...keys].map((key) => this.#objects.get(key) as T)
  }

  /** Calls the listener with every change from now on, and at once with the present objects, as added. */
  subscribe(listener: (change: Change<T>) => void): void {
    for (const object of this.#objects.values()) listener({ type: 'added', object, previous: null })
    this.#listeners.add(listener)
  }

  /** Takes over the state of one object. A version that is known, or one before it, is no change. */
  set(object: T): void {
    const key = objectKey(object.metadata)
    const known = this.#objects.get(key)
    if (known !== undefined && isPast(object, known)) return
    if (known === undefined || !isSame(known, object)) this.#put(key, object)
  }

  /** Removes an object, given its last state. Nothing happens when there is none, or a newer one. */
  delete(last: T): void {
    const key = objectKey(last.metadata)
    const known = this.#objects.get(key)
    if (known !== undefined && !isPast(last, known)) this.#remove(key, last)
  }

  /** Takes over a full list, of one namespace or of all, which holds even where it goes back: what is not in it is deleted. */
  replace(objects: readonly T[], namespace?: string): void {
    const listed = new Map(objects.map((object) => [objectKey(object.metadata), object]))
    for (const [key, { metadata }] of this.#objects)
      if (!listed.has(key) && (namespace === undefined || metadata.namespace === namespace))
        this.#remove(key)
    for (const [key, object] of listed) {
      const known = this.#objects.get(key)
      if (known === undefined || !isSame(known, object)) this.#put(key, object)
    }
  }

  #put(key: string, object: T): void {
    if (this.#objects.get(key)?.metadata.uid !== object.metadata.uid) this.#remove(key)
    const before = this.#objects.get(key) ?? null
    deepFreeze(object)
    this.#unindex(key, before)
    this.#objects.set(key, object)
    for (const { of, keys } of this.#indexes.values())
      for (const value of of(object)) {
        const under = keys.get(value)
        if (under) under.add(key)
        else keys.set(value, new Set([key]))
      }
    this.#publish({ type: before === null ? 'added' : 'updated', object, previous: before })
  }

  #remove(key: string, last?: T): void {
    const previous = this.#objects.get(key)
    if (previous === undefined) return
    this.#unindex(key, previous)
    this.#objects.delete(key)
    this.#publish({ type: 'deleted', object: deepFreeze(last ?? previous), previous })
  }

  #unindex(key: string, object: T | null): void {
    if (object === null) return
    for (const { of, keys } of this.#indexes.values())
      for (const value of of(object)) {
        const under = keys.get(value)
        under?.delete(key)
        if (under?.size === 0) keys.delete(value)
      }
  }

  #publish(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change)
  }
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  const [left, right] = [a.metadata, b.metadata]
  return (
    left.resourceVersion !== undefined &&
    left.resourceVersion === right.resourceVersion &&
    left.uid === right.uid
  )
}

function isPast(object: KubeObject, known: KubeObject): boolean {
  return isOlder(object.metadata.resourceVersion, known.metadata.resourceVersion)
}

function deepFreeze<V>(value: V): V {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const each of Object.values(value)) deepFreeze(each)
  return Object.freeze(value)
}
