// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import type { PolicyEntry } from './cross-validation.ts'
import type { ConfigFile, NodeUrlEntry, UpstreamEntry } from './schema.ts'
import { Secret } from './secret.ts'
import { Scalar } from './yaml/scalar.ts'
import type { Partly } from './partly.ts'

export const tiers = ['primary', 'backup'] as const
export type Tier = (typeof tiers)[number]

/** A list entry of the file, with its unreadable parts omitted. */
export interface Located<T> {
  /** Path such as `endpoints[0]` or `direct-rpc[2].node-urls[0]`. */
  readonly path: string
  readonly entry: Partly<T>
}

export interface LocatedUpstream extends Located<UpstreamEntry> {
  readonly tier: Tier
  readonly urls: readonly Located<NodeUrlEntry>[]
}

/** Entries of a file that may contain mistakes. Unreadable entries are omitted. */
export interface Entries {
  readonly endpoints: readonly Located<ConfigFile['endpoints'][number]>[]
  /** Primary and backup upstreams. */
  readonly upstreams: readonly LocatedUpstream[]
  /** Cross-validation policies. */
  readonly policies: readonly Located<PolicyEntry>[]
}

export function entriesOf(file: Partly<ConfigFile>): Entries {
  const upstreamsOf = (key: 'direct-rpc' | 'backup-direct-rpc', tier: Tier) =>
    locate<UpstreamEntry>(file[key], key).map(({ entry, path }) => {
      const urls = locate<NodeUrlEntry>(entry['node-urls'], `${path}.node-urls`)
      return { entry, path, tier, urls }
    })
  return {
    endpoints: locate<ConfigFile['endpoints'][number]>(file.endpoints, 'endpoints'),
    upstreams: [
      ...upstreamsOf('direct-rpc', 'primary'),
      ...upstreamsOf('backup-direct-rpc', 'backup'),
    ],
    policies: locate<PolicyEntry>(file['cross-validation']?.policies, 'cross-validation.policies'),
  }
}

/** Returns the readable entries of a list, each with its path. */
export function locate<T>(
  list: Partly<readonly T[]> | undefined,
  path: string,
): readonly Located<T>[] {
  return (list ?? []).flatMap((entry, index) =>
    entry === undefined ? [] : [{ entry, path: `${path}[${index}]` }],
  )
}

/** Collects secrets: URLs, headers and queries. All other scalars are invalid or unused. */
export function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return value instanceof Scalar ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  return [...(value instanceof Map ? value.values() : Object.values(value))].flatMap(secretsIn)
}

/**
 * Parses a tree so that one mistake does not hide the others.
 * @returns the valid part, and the issues in the rest
 */
export function parsePartly<T>(schema: z.ZodType<T>, tree: unknown) {
  // `safeParse` drops the valid part, and `run` drops the messages.
  const issues = schema.safeParse(tree).error?.issues ?? []
  // oxlint-disable-next-line no-underscore-dangle -- zod's own name of what its schemas are run by
  const run = schema._zod.run({ value: tree, issues: [] }, { async: false })
  const value = (run as z.core.ParsePayload).value as Partly<T>
  for (const { code, path } of issues) {
    // An unknown key is not in the value, and an empty list may stay.
    if (code === 'unrecognized_keys' || code === 'too_small') continue
    const last = path.at(-1)
    const parent = path.slice(0, -1).reduce<unknown>(partOf, value)
    if (last !== undefined && typeof parent === 'object' && parent !== null && last in parent)
      Reflect.set(parent, last, undefined)
  }
  return { value, issues }
}

function partOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
