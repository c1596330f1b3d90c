// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A number as nodes have it: `mantissa` times 2 to the power of `exponent`. */
export interface Binary {
  readonly mantissa: bigint
  readonly exponent: number
}

/** Bits to which nodes round what is not just an integer, and what they add for a power of five. */
const valueBits = 125
const moreBits = 64

/**
 * The number that the value of an attribute begins with, as in `5uatom`. An integer alone is exact;
 * all else is rounded to 125 bits, as Go's `math/big` does it, so that what is equal for a node is
 * equal here.
 * @returns null where there is none, or a sign is before it
 */
export function numberIn(value: string): Binary | null {
  const [text, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?/.exec(value) ?? []
  if (text === undefined) return null
  const isInteger = text === whole && text.length === value.length
  return isInteger ? exact(BigInt(text)) : decimal(whole, fraction)
}

/** A number of a query, as `5`, `1.5` or `5.`. */
export function numberOf(text: string): Binary {
  const [whole = '', fraction] = text.split('.')
  return fraction === undefined ? exact(BigInt(whole)) : decimal(whole, fraction)
}

/** @returns below 0, 0 or above 0, as for sorting */
export function compareNumbers(a: Binary, b: Binary): number {
  const least = Math.min(a.exponent, b.exponent)
  const [left, right] = [a, b].map(
    ({ mantissa, exponent }) => mantissa << BigInt(exponent - least),
  ) as [bigint, bigint]
  return left < right ? -1 : Number(left > right)
}

function exact(mantissa: bigint): Binary {
  return { mantissa, exponent: 0 }
}

function decimal(whole: string, fraction: string): Binary {
  const digits = BigInt(whole + fraction)
  const places = fraction.length
  if (places === 0 || digits === 0n) return rounded(exact(digits), valueBits)
  // digits / 10^places = digits / 5^places / 2^places
  const divisor = powerOfFive(places, valueBits + moreBits)
  const shift = Math.max(0, valueBits + 2 + bitsOf(divisor.mantissa) - bitsOf(digits))
  const dividend = digits << BigInt(shift)
  const quotient = dividend / divisor.mantissa
  // One more bit stands for whatever the division left over.
  const rest = quotient * divisor.mantissa === dividend ? 0n : 1n
  const exponent = -shift - divisor.exponent - places - 1
  return rounded({ mantissa: (quotient << 1n) | rest, exponent }, valueBits)
}

/** 5^power to so many bits, with the roundings on the way that Go has. */
function powerOfFive(power: number, bits: number): Binary {
  const tabled = Math.min(power, 27)
  let result = exact(5n ** BigInt(tabled))
  let factor = exact(5n)
  for (let left = power - tabled; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = rounded(product(result, factor), bits)
    factor = rounded(product(factor, factor), bits + moreBits)
  }
  return result
}

function product(a: Binary, b: Binary): Binary {
  return { mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent }
}

/** To the nearest, and from the middle to the even one. */
function rounded({ mantissa, exponent }: Binary, bits: number): Binary {
  const surplus = bitsOf(mantissa) - bits
  if (surplus <= 0) return { mantissa, exponent }
  const cut = mantissa >> BigInt(surplus)
  const rest = mantissa - (cut << BigInt(surplus))
  const half = 1n << BigInt(surplus - 1)
  const isUp = rest > half || (rest === half && cut % 2n === 1n)
  return { mantissa: isUp ? cut + 1n : cut, exponent: exponent + surplus }
}

function bitsOf(value: bigint): number {
  const digits = value.toString(16)
  return (digits.length - 1) * 4 + Number.parseInt(digits[0] as string, 16).toString(2).length
}
