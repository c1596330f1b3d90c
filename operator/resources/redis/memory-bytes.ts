// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
const units: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['Ki', 1024],
  ['Mi', 1024 ** 2],
  ['Gi', 1024 ** 3],
])

/** Bytes of a quantity such as `128Mi`; null for none, or one that is written in a rarer way. */
export function memoryBytes(quantity: string | number | undefined): number | null {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(String(quantity ?? '')) ?? []
  const factor = units.get(unit)
  return amount === undefined || factor === undefined ? null : Number(amount) * factor
}
