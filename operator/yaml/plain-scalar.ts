// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A text, a whole number, another number, or one of the words that YAML knows. */
export type PlainValue = string | bigint | number | boolean | null

/**
 * What a text without quotes is to kubectl, which reads YAML by go-yaml v2: words and numbers of YAML 1.1 and of 1.2, but
 * no numbers to the base 60, and dates stay texts.
 */
export function plainValue(text: string): PlainValue {
  const word = words.get(text)
  if (word !== undefined) return word
  if (text.startsWith('.')) return (fraction.test(text) ? floatOf(text) : null) ?? text
  if (!/^[-+\d]/.test(text)) return text
  const digits = text.replaceAll('_', '')
  return wholeOf(digits) ?? (decimal.test(digits) ? floatOf(digits) : null) ?? text
}

/** In the three ways in which YAML knows a word: `off`, `Off`, `OFF`. */
function spelled<T>(value: T, ...all: readonly string[]): readonly (readonly [string, T])[] {
  return all.flatMap((word) => {
    const capital = word.replace(/[a-z]/, (letter) => letter.toUpperCase())
    return [word, capital, word.toUpperCase()].map((way) => [way, value] as const)
  })
}

const words: ReadonlyMap<string, PlainValue> = new Map<string, PlainValue>([
  ...spelled(true, 'y', 'yes', 'true', 'on'),
  ...spelled(false, 'n', 'no', 'false', 'off'),
  ...spelled(null, '', '~', 'null'),
  ...spelled(Infinity, '.inf', '+.inf'),
  ...spelled(-Infinity, '-.inf'),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, NaN] as const),
])

const whole = /^(?<sign>[-+]?)(?<digits>0x[\da-f]+|0b[01]+|0o?[0-7]+|0|[1-9]\d*)$/i
const decimal = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i
/** Here alone the underscores must stand between digits. */
const fraction = /^\.\d+(?:_\d+)*(?:e[-+]?\d+(?:_\d+)*)?$/i

function wholeOf(text: string): bigint | null {
  const { sign = '', digits = '' } = whole.exec(text)?.groups ?? {}
  if (digits === '') return null
  const size = BigInt(digits.replace(/^0o?(?=[0-7])/i, '0o'))
  const most = sign === '' ? 2n ** 64n - 1n : sign === '-' ? 2n ** 63n : 2n ** 63n - 1n
  return size > most ? null : sign === '-' ? -size : size
}

function floatOf(text: string): number | null {
  const value = Number(text.replaceAll('_', ''))
  return Number.isFinite(value) ? value : null
}
