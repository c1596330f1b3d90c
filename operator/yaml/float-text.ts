// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const precisions = [0, 1, 2, 3, 4, 5, 6, 7, 8]

/** A number that is a key, as kubectl makes a text of it: in the least digits that single precision needs. */
export function floatText(value: number): string {
  const single = Math.fround(value)
  if (Number.isNaN(single)) return '.nan'
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf'
  if (Object.is(single, -0)) return '-0'
  const forms = precisions.map((count) => single.toExponential(count))
  const shortest = forms.find((form) => Math.fround(Number(form)) === single) ?? String(single)
  const exponent = Number(shortest.split('e')[1])
  if (exponent >= -4 && exponent < 6) return String(Number(shortest))
  return shortest.replace(/(e[-+])(\d)$/, '$10$2')
}
