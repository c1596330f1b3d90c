// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient, Selection } from './client.ts'
import { isExpired } from './errors.ts'
import type { KubeObject } from './object.ts'
import type { Resource } from './resource.ts'

const pageSize = 500

export interface FullList<T extends KubeObject> {
  readonly items: T[]
  readonly resourceVersion: string
}

/**
 * Every object of the selection, page by page, as of one version. When the version is forgotten
 * between two pages, all comes in one answer instead.
 */
export async function listAll<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  selection: Selection,
  signal: AbortSignal,
  keep: (object: T) => T = (object) => object,
): Promise<FullList<T>> {
  const items: T[] = []
  let from: { continue?: string } = {}
  for (;;) {
    const page = await client
      .list(resource, { ...selection, ...from, limit: pageSize }, signal)
      .catch((error: unknown) => {
        if (from.continue === undefined || !isExpired(error)) throw error
        items.length = 0
        return client.list(resource, selection, signal)
      })
    for (const item of page.items) items.push(keep(item))
    if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion }
    from = { continue: page.continue }
  }
}
