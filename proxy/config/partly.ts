// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Address } from './fields/address.ts'
import type { UpstreamUrl } from './fields/upstream-url.ts'
import type { Secret } from './secret.ts'

type Leaf = Address | UpstreamUrl | ReadonlyMap<string, Secret>

/** A value with any invalid part missing. */
export type Partly<T> = T extends Leaf
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (Partly<Item> | undefined)[]
    : T extends object
      ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
      : T
