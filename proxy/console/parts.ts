// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A record from one replica. */
export type Part<T> = T & { readonly replica: string }
export type Replica = { readonly replica: string }

/** Clause such as ` at one:7779 only`; empty if every replica matches. */
export function only(some: readonly Replica[], all: readonly Replica[]): string {
  const names = [...new Set(some.map(({ replica }) => replica))]
  return names.length > 0 && names.length < all.length ? ` at ${names.join(', ')} only` : ''
}
