// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import type { Address } from './fields/address.ts'
import type { UpstreamUrl } from './fields/upstream-url.ts'
import type { Secret } from './secret.ts'

type Leaf = Address | UpstreamUrl | ReadonlyMap<string, Secret>

/** A value of which any part may be missing, because it was wrong. */
export type Partly<T> = T extends Leaf
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (Partly<Item> | undefined)[]
    : T extends object
      ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
      : T

/** What a schema makes of a tree, and what is wrong with the rest. */
interface PartialResult<T> {
  /** Whole when there are no issues. */
  readonly value: Partly<T>
  readonly issues: readonly z.core.$ZodIssue[]
}

/** Reads a tree of which some may be wrong: so that one mistake does not hide what else is wrong with a file. */
export function parsePartly<T>(schema: z.ZodType<T>, tree: unknown): PartialResult<T> {
  const { success, data, error } = schema.safeParse(tree)
  if (success) return { value: data as Partly<T>, issues: [] }
  // `safeParse` keeps to itself what was right.
  // oxlint-disable-next-line no-underscore-dangle -- zod's own name of what its schemas are run by
  const run = schema._zod.run({ value: tree, issues: [] }, { async: false })
  const value = (run as z.core.ParsePayload).value as Partly<T>
  for (const { code, path } of error.issues) {
    // An unknown key is not in the value, and an empty list is one.
    if (code === 'unrecognized_keys' || code === 'too_small') continue
    const last = path.at(-1)
    const parent = path.slice(0, -1).reduce<unknown>(partOf, value)
    if (last !== undefined && typeof parent === 'object' && parent !== null && last in parent)
      Reflect.set(parent, last, undefined)
  }
  return { value, issues: error.issues }
}

function partOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
