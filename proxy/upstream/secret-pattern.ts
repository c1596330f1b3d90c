// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** More than any spelling of one byte of a secret has. */
const longestSpelling = 24

const namedEntities: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
}

/** What finds secrets in bytes, read as Latin-1. */
export interface SecretPattern {
  readonly pattern: RegExp
  /** No match is longer. */
  readonly longest: number
}

/**
 * A pattern of values as answers may repeat them: as they are, percent-encoded as a whole or in part, in a JSON string,
 * in HTML, several times over, in base64, and in the other case of ASCII letters. Null for no values.
 */
export function secretPattern(values: Iterable<string>): SecretPattern | null {
  // The longest first, or a value that begins with another one would be found only in part.
  const longestFirst = [...new Set(values)].toSorted((a, b) => b.length - a.length)
  if (longestFirst.length === 0) return null
  const spellings = longestFirst.flatMap((value) => [
    Array.from(value, spellingsOf).join(''),
    base64Of(value),
  ])
  const longest = longestSpelling * Buffer.byteLength(longestFirst[0] as string)
  return { pattern: new RegExp(spellings.join('|'), 'gi'), longest }
}

function base64Of(value: string): string {
  return escapePattern(Buffer.from(value).toString('base64').replace(/=+$/, ''))
}

function spellingsOf(char: string): string {
  // Nobody spells these otherwise, and what has no alternatives is found several times faster.
  if (/[A-Za-z0-9]/.test(char)) return char
  const bytes = [...Buffer.from(char)]
  const number = char.codePointAt(0) ?? 0
  const entity = namedEntities[char]
  const entities = [
    `#0{0,4}${number}`,
    `#x0{0,4}${number.toString(16)}`,
    ...(entity ? [entity] : []),
  ]
  const units = Array.from({ length: char.length }, (_, at) => hex(char.charCodeAt(at), 4))
  const spellings = [
    // What was encoded once may have been so again.
    `&(?:amp;){0,2}(?:${entities.join('|')});`,
    bytes.map((byte) => `%(?:25){0,3}${hex(byte, 2)}`).join(''),
    units.map((unit) => `\\\\{1,4}u${unit}`).join(''),
    `\\\\{0,4}${escapePattern(Buffer.from(bytes).toString('latin1'))}`,
    // A query has one for the other.
    ...(char === ' ' ? ['\\+'] : []),
    ...(char === '+' ? [' '] : []),
  ]
  return `(?:${spellings.join('|')})`
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
