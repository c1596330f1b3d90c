// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { addressesOverlap, formatAddress } from './address.ts'
import type { Field } from './field.ts'
import { address } from './fields.ts'
import { entriesOf } from './entries.ts'
import type { Problem } from './problem.ts'
import { child, Scalar, type Tree } from './scalar.ts'
import { defaultPort } from './schema.ts'
import type { Address } from './types.ts'
import type { Position } from './yaml-text.ts'

const addressField = address(defaultPort)

interface Listening {
  readonly path: string
  readonly bound: ShownAddress | null
  /** The key that says it, or the entry when none does. */
  readonly addressPath: string
}

/** An address, and the text that messages show for it: placeholders unrendered. */
interface ShownAddress {
  readonly address: Address
  readonly shown: string
}

/**
 * Addresses of a file that collide. Works on a file that has other mistakes too, and then doubts in the file's
 * favour.
 */
export function checkAddresses(
  tree: Tree,
  metrics: ShownAddress | null,
  locate: (path: string) => Position | null,
): readonly Problem[] {
  const listeners = entriesOf(tree, 'endpoints').map(([entry, path]) => readListener(entry, path))
  const lineOf = (path: string): string => `line ${locate(path)?.line ?? '?'}`
  const problems: Problem[] = []
  for (const [index, { bound, addressPath }] of listeners.entries()) {
    if (bound === null) continue
    const overlapsThis = (other: ShownAddress | null): boolean =>
      other !== null && addressesOverlap(other.address, bound.address)
    const earlier = listeners.slice(0, index).find((listener) => overlapsThis(listener.bound))
    const others = [
      ...(earlier
        ? [`${earlier.bound?.shown} of ${earlier.path} on ${lineOf(earlier.addressPath)}`]
        : []),
      ...(overlapsThis(metrics) ? [`${metrics?.shown} of metrics-listen-address`] : []),
    ]
    for (const other of others) {
      const message = `${bound.shown} collides with ${other}`
      const { line = null, column = null } = locate(addressPath) ?? {}
      const hint = 'Give each its own port.'
      problems.push({ severity: 'error', path: addressPath, line, column, message, hint })
    }
  }
  return problems
}

function readListener(entry: Tree, path: string): Listening {
  const key = ['network-address', 'listen-address'].find((name) => child(entry, name) !== undefined)
  const written = key === undefined ? new Scalar(`:${defaultPort}`) : child(entry, key)
  return {
    path,
    bound: written instanceof Scalar ? showAddress(addressField, written) : null,
    addressPath: key === undefined ? path : `${path}.${key}`,
  }
}

/** Reads an address for a comparison; null when it is none. */
export function showAddress(
  field: Field<Address> | Field<Address | null>,
  scalar: Scalar,
): ShownAddress | null {
  const parsed = field.safeParse(scalar)
  if (!parsed.success || parsed.data === null) return null
  const shown = scalar.hasPlaceholder ? scalar.written : formatAddress(parsed.data)
  return { address: parsed.data, shown }
}
