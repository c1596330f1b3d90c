// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import type { KubeObject } from '../kube/object.ts'

/** An object as our types have it, or why it does not fit them: it may be older than they are. */
export type Typed<T> =
  { readonly value: T; readonly faults: null } | { readonly value: null; readonly faults: string }

/** Reads objects of the API with a schema, each of them once. */
export class TypedReader<T extends KubeObject> {
  readonly #schema: z.ZodType<T>
  readonly #read = new WeakMap<KubeObject, Typed<T>>()

  constructor(schema: z.ZodType<T>) {
    this.#schema = schema
  }

  read(object: KubeObject): Typed<T> {
    const known = this.#read.get(object)
    if (known !== undefined) return known
    const parsed = this.#schema.safeParse(object)
    const typed: Typed<T> = parsed.success
      ? { value: parsed.data, faults: null }
      : { value: null, faults: parsed.error.issues.map(faultOf).join('; ') }
    this.#read.set(typed.value ?? object, typed)
    return typed
  }

  /** What a store keeps of an object: as our types have it, so that there is one copy; as it came when it does not fit. */
  keep(object: KubeObject): KubeObject {
    return this.read(object).value ?? object
  }
}

function faultOf({ path, message }: z.core.$ZodIssue): string {
  return `${path.join('.')}: ${message}`
}
