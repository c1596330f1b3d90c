// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { foldedName } from '../../json/text.ts'

/**
 * Stands for a member whose name differs from the known one in its case. Nodes that match names
 * without regard to case read it, others do not: what was asked for is not known.
 */
export const misspelt = Symbol('misspelt')

/** The member of this name; `misspelt` where only one like it is there; undefined without either. */
export function member(object: object, name: string): unknown {
  if (Object.hasOwn(object, name)) return (object as Record<string, unknown>)[name]
  const folded = foldedName(name)
  return Object.keys(object).some((each) => foldedName(each) === folded) ? misspelt : undefined
}
