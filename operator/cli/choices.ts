// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Images } from '../resources/build-children.ts'
import { digest } from '../translate/digest.ts'
import { type FlagValues, valueOf } from './command-line.ts'

/** The namespaces that are named, each once; null for all of the cluster. */
export function namespacesOf({ namespaces }: FlagValues): readonly string[] | null {
  const named = [...new Set(namespaces.flatMap((list) => list.split(',')))]
  return named.length === 0 ? null : named
}

/** Images of what names none of its own: the router of the operator's own version. */
export function imagesOf(values: FlagValues, version: string): Images {
  return {
    router: valueOf(values, 'router-image') ?? `rpc-router:${version}`,
    redis: valueOf(values, 'redis-image') ?? 'redis:8.2-alpine',
  }
}

const usualName = 'rpc-router-operator'
/** More than that, and a hash stands for the namespaces. */
const mostNameLength = 100

/**
 * The lease that an operator holds: its own for each choice of namespaces, so that operators of different
 * namespaces do not wait for each other.
 *
 * @param namespace where it is unless a flag says otherwise
 */
export function leaseOf(
  values: FlagValues,
  namespace: string,
): { readonly namespace: string; readonly name: string } {
  return {
    namespace: valueOf(values, 'lease-namespace') ?? namespace,
    name: valueOf(values, 'lease-name') ?? nameFor(namespacesOf(values)),
  }
}

function nameFor(namespaces: readonly string[] | null): string {
  if (namespaces === null) return usualName
  const sorted = namespaces.toSorted()
  // No namespace has a dot in its name, so no two choices come to the same.
  const name = [usualName, ...sorted].join('.')
  return name.length <= mostNameLength ? name : `${usualName}.${digest(sorted)}`
}
