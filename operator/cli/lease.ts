// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest } from '../translate/digest.ts'
import { type FlagValues, valueOf } from './command-line.ts'
import { namespacesOf } from './namespaces.ts'

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
