// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Makes something of a list, and gives the same again for as long as the items are the same. */
export function ofLast<I, R>(make: (items: readonly I[]) => R): (items: readonly I[]) => R {
  let last: { readonly items: readonly I[]; readonly made: R } | null = null
  return (items) => {
    if (last === null || !isSame(last.items, items)) last = { items, made: make(items) }
    return last.made
  }
}

function isSame<I>(a: readonly I[], b: readonly I[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}
