// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Partly } from './partial.ts'
import type { ConfigFile, NodeUrlEntry, UpstreamEntry } from './schema.ts'
import type { Secret } from './secret.ts'
import type { Tier } from './types.ts'

/** An entry of a list of the file, as far as it could be read. */
export interface Placed<T> {
  /** `endpoints[0]`, `direct-rpc[2].node-urls[0]`, ... */
  readonly path: string
  readonly entry: Partly<T>
}

export interface PlacedUpstream extends Placed<UpstreamEntry> {
  readonly tier: Tier
  readonly urls: readonly Placed<NodeUrlEntry>[]
}

/** The entries of a file that may have mistakes; those that could not be read at all are left out. */
export interface Entries {
  readonly endpoints: readonly Placed<ConfigFile['endpoints'][number]>[]
  /** Of both tiers. */
  readonly upstreams: readonly PlacedUpstream[]
}

export function entriesOf(file: Partly<ConfigFile>): Entries {
  const upstreamsOf = (key: 'direct-rpc' | 'backup-direct-rpc', tier: Tier) =>
    placed<UpstreamEntry>(file[key], key).map(({ entry, path }) => {
      const urls = placed<NodeUrlEntry>(entry['node-urls'], `${path}.node-urls`)
      return { entry, path, tier, urls }
    })
  return {
    endpoints: placed<ConfigFile['endpoints'][number]>(file.endpoints, 'endpoints'),
    upstreams: [
      ...upstreamsOf('direct-rpc', 'primary'),
      ...upstreamsOf('backup-direct-rpc', 'backup'),
    ],
  }
}

/** What could be read of a list, each with its place. */
export function placed<T>(
  list: Partly<readonly T[]> | undefined,
  path: string,
): readonly Placed<T>[] {
  return ((list ?? []) as readonly (Partly<T> | undefined)[]).flatMap((entry, index) =>
    entry === undefined ? [] : [{ entry, path: `${path}[${index}]` }],
  )
}

/** The secrets of a file that may have mistakes elsewhere: headers and queries, and URLs for the keys in them. */
export function secretsOf({ upstreams }: Entries): readonly Secret[] {
  return upstreams.flatMap(({ urls }) =>
    urls.flatMap(({ entry: { url, 'auth-config': auth } }) => [
      ...(url === undefined ? [] : [url.url, ...(url.basicAuth === null ? [] : [url.basicAuth])]),
      ...(auth?.['auth-headers']?.values() ?? []),
      ...(auth?.['auth-query']?.values() ?? []),
    ]),
  )
}
