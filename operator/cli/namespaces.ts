// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FlagValues } from './command-line.ts'

/** The namespaces that are named, each once; null for all of the cluster. */
export function namespacesOf({ namespaces }: FlagValues): readonly string[] | null {
  const named = [...new Set(namespaces.flatMap((list) => list.split(',')))]
  return named.length === 0 ? null : named
}
