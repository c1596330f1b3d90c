// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef, DataKind } from '../chain/types.ts'
import type { Upstream } from './upstream.ts'
import type { NodeUrl } from './node-url.ts'

/** Requirements of an attempt on its upstream. */
export interface Wanted {
  /** Add-ons and extensions that the upstream must declare. */
  readonly addons: readonly string[]
  /** Method of the call; absent if its name does not matter. */
  readonly method?: string
  readonly block: BlockRef
  /** The kind of data that it reads from numbered blocks; absent or null if none. */
  readonly data?: DataKind | null
  /** Requests an object by its hash. It may be in the newest block. */
  readonly byHash: boolean
  /** Name of the upstream that the client selected. It is used if it can serve. */
  readonly prefer: string | null
  readonly excluded: readonly string[]
  /** Allowed upstreams; absent or null for any. */
  readonly only?: readonly string[] | null
  /** The upstream must have this block, whatever the call reads; absent or null for no floor. */
  readonly floor?: number | null
  /** Whether the call has tried that upstream. */
  tried(upstream: string): boolean
  /** Upstream whose empty answer needs confirmation. It ranks as tried; absent or null for none. */
  readonly unconfirmed?: string | null
  /** For a hedge: excludes upstreams that were tried, or that lag while another one does not. */
  readonly untriedOnly: boolean
  /** Whether the limits of URLs apply, as to every call; absent: no request follows. */
  readonly isPaced?: boolean
  /** The connection has other calls in flight, or the call is part of a batch. */
  readonly isOneOfMany?: boolean
}

/** No requirement. Callers override what they need. */
export const anyUpstream: Wanted = {
  addons: [],
  block: { kind: 'none' },
  byHash: false,
  prefer: null,
  excluded: [],
  tried: () => false,
  untriedOnly: false,
}

/** Whether the call must not use the upstream, regardless of its state. */
export function isExcluded(upstream: Upstream, { only, excluded, method }: Wanted): boolean {
  const { name } = upstream
  return (
    only?.includes(name) === false ||
    (excluded.length > 0 && excluded.includes(name)) ||
    !isPermitted(upstream, method)
  )
}

/** Whether the config lets calls of the method go to the upstream. */
export function isPermitted({ methods }: Upstream, method: string | undefined): boolean {
  return methods === null || method === undefined || methods.of(method).isPermitted
}

/** Whether the upstream is known to have this block. Every upstream has block 0. */
export function reaches({ latest }: Pick<Upstream, 'latest'>, floor: number | null = 0): boolean {
  return (latest?.block ?? 0) >= (floor ?? 0)
}

/** Whether a URL may have reached the floor. The URLs of an upstream may have different heads. */
export function isAt(floor: number | null, { head }: NodeUrl): boolean {
  return floor === null || head === null || head.block >= floor
}
