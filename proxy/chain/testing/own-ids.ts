// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../types.ts'

/** Ids of the catalog's chains, without the bundled ones. */
export function ownIds(catalog: ChainCatalog): readonly string[] {
  return catalog.ids.filter((id) => catalog.find(id)?.ownFile)
}
