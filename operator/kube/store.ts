// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isOlder, objectKey, type KubeObject } from './object.ts'

/** An object was added, updated or deleted. `object` has the last observed state. */
export interface Change<T extends KubeObject> {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly object: T
  /** The object before the change; null if it was added. */
  readonly previous: T | null
}

/** Returns the values under which an index lists an object. */
export type IndexOf<T extends KubeObject> = (object: T) => readonly string[]

/**
 * The known objects of one kind, by key and by indexes. Objects are deeply frozen, because all
 * readers share them: a write to one throws.
 *
 * A reflector writes to it. A different object of the same name is published as a deletion and an
 * addition, never as an update.
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

  /** Returns the objects under a value of the index, in no particular order. */
  byIndex(index: I, value: string): T[] {
    const keys = this.#indexes.get(index)?.keys.get(value) ?? []
    return [...keys].map((key) => this.#objects.get(key) as T)
  }

  /** Calls the listener immediately with the existing objects, as added, then with every change. */
  subscribe(listener: (change: Change<T>) => void): void {
    for (const object of this.#objects.values()) listener({ type: 'added', object, previous: null })
    this.#listeners.add(listener)
  }

  /** Stores one object. Ignores a known or older version. */
  set(object: T): void {
    const key = objectKey(object.metadata)
    const known = this.#objects.get(key)
    if (known !== undefined && isPast(object, known)) return
    if (known === undefined || !isSame(known, object)) this.#put(key, object)
  }

  /** Removes an object by its last state, unless the store has none or a newer one. */
  delete(last: T): void {
    const key = objectKey(last.metadata)
    const known = this.#objects.get(key)
    if (known !== undefined && !isPast(last, known)) this.#remove(key, last)
  }

  /** Stores a full list of one namespace or of all, even an older list; deletes what it lacks. */
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
