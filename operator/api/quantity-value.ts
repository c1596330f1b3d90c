// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
const factors: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map(
    (unit, index) => [unit, 1024 ** (index + 1)] as const,
  ),
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((unit, index) => [unit, 1000 ** (index + 1)] as const),
  ['m', 1e-3],
  ['u', 1e-6],
  ['n', 1e-9],
])

/** What a quantity of Kubernetes comes to, such as 0.25 for `250m` and 1024 for `1Ki`; null for what is none. */
export function quantityValue(quantity: string | number | undefined): number | null {
  const text = String(quantity ?? '')
  const [, amount, unit = '', exponent] =
    /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i|[numkMGTPE]?)|[eE]([+-]?\d+))$/.exec(text) ?? []
  const factor = exponent === undefined ? factors.get(unit) : 10 ** Number(exponent)
  return amount === undefined || factor === undefined ? null : Number(amount) * factor
}

/** Whether two quantities are the same amount, however they are written: the API server writes them in its own way. */
export function isSameQuantity(a: string | number, b: string | number): boolean {
  const [left, right] = [quantityValue(a), quantityValue(b)]
  if (left === null || right === null) return a === b
  return Math.abs(left - right) <= 4 * Number.EPSILON * Math.abs(left)
}
