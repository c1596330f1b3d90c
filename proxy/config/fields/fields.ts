// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nearest } from '../nearest.ts'
import { type Address, type ApiInterface, apiInterfaces } from '../types.ts'
import {
  byteSizePattern,
  durationPattern,
  formatByteSize,
  formatDuration,
  parseByteSize,
  parseDuration,
} from '../units.ts'
import { isPlainHost, parseAddress } from './address.ts'
import { type Field, type FieldMeta, type Reading, field, orPlaceholder } from './field.ts'

interface Range {
  readonly min: number
  readonly max: number
}

/** A whole number within its bounds. */
export function integer(range: Range): Field<number> {
  const { min, max } = range
  const json = { type: 'integer', minimum: min, maximum: max }
  return field({ kind: `integer, ${min} to ${max}`, json }, (text) => {
    if (!/^[+-]?[0-9]+$/.test(text)) {
      return { fault: 'is not a whole number', hint: `Write one from ${min} to ${max}.` }
    }
    return within(Number(text), range, String)
  })
}

/** A duration within its bounds, in milliseconds. */
export function duration(range: Range): Field<number> {
  return field(durationMeta, (text) => readDuration(text, range))
}

const durationMeta: FieldMeta = {
  kind: 'duration',
  json: {
    type: 'string',
    pattern: orPlaceholder(durationPattern),
    examples: ['500ms', '5s', '1m30s'],
  },
}

/** A duration or `off`, which is null; `on` stands for `usualMs`. */
export function switchableDuration(range: Range, usualMs: number): Field<number | null> {
  const json = { type: ['string', 'boolean'], examples: ['on', 'off', formatDuration(usualMs)] }
  return field({ kind: 'duration, `on` or `off`', json }, (text): Reading<number | null> => {
    if (text === 'off' || text === 'false') return { value: null }
    if (text === 'on' || text === 'true') return { value: usualMs }
    return readDuration(text, range)
  })
}

function readDuration(text: string, range: Range): Reading<number> {
  const ms = parseDuration(text)
  if (ms !== null) return within(ms, range, formatDuration)
  if (/^[0-9.]+$/.test(text)) {
    return { fault: 'has no unit', hint: 'Write a duration such as 500ms, 5s or 1m30s.' }
  }
  if (text.startsWith('-') && parseDuration(text.slice(1)) !== null) {
    return { fault: 'is negative', hint: `The least is ${formatDuration(range.min)}.` }
  }
  return { fault: 'is not a duration', hint: 'Write one such as 500ms, 5s or 1m30s.' }
}

/** An amount of bytes within its bounds. */
export function byteSize(range: Range): Field<number> {
  const json = { type: ['string', 'integer'], pattern: orPlaceholder(byteSizePattern) }
  return field({ kind: 'size', json: { ...json, examples: ['10MiB', '512KiB'] } }, (text) => {
    const bytes = parseByteSize(text)
    if (bytes === null)
      return { fault: 'is not a size', hint: 'Write one such as 10MiB or 512KiB.' }
    return within(bytes, range, formatByteSize)
  })
}

/** `true` or `false`. */
export function boolean(): Field<boolean> {
  return field({ kind: 'true or false', json: { type: 'boolean' } }, (text) => {
    if (text === 'true') return { value: true }
    if (text === 'false') return { value: false }
    return { fault: 'is neither true nor false', hint: null }
  })
}

/** One word of a list. */
export function oneOf<T extends string>(
  words: readonly T[],
  privacy?: FieldMeta['privacy'],
): Field<T> {
  const kind = words.map((word) => `\`${word}\``).join(', ')
  const json = { type: 'string', enum: [...words] }
  return field({ kind, json, privacy }, (text) => {
    const word = words.find((candidate) => candidate === text)
    if (word !== undefined) return { value: word }
    const near = nearest(text, words)
    const allowed = `Allowed: ${words.join(', ')}.`
    return {
      fault: 'is not one of the allowed values',
      hint: near === null ? allowed : `Did you mean ${near}? ${allowed}`,
    }
  })
}

/** An address to listen on; a missing host means all interfaces. */
export function address(defaultPort: number): Field<Address> {
  return field(addressMeta(defaultPort), (text, scalar) =>
    readAddress(text, defaultPort, scalar.hasPlaceholder),
  )
}

/** An address to listen on, or `off`, which is null. */
export function switchableAddress(defaultPort: number): Field<Address | null> {
  const meta = { ...addressMeta(defaultPort), kind: 'address or `off`' }
  return field(meta, (text, scalar): Reading<Address | null> => {
    if (text === 'off' || text === 'false') return { value: null }
    return readAddress(text, defaultPort, scalar.hasPlaceholder)
  })
}

function addressMeta(defaultPort: number): FieldMeta {
  const examples = [`0.0.0.0:${defaultPort}`, `:${defaultPort}`]
  return { kind: 'address', json: { type: ['string', 'integer'], examples } }
}

function readAddress(text: string, defaultPort: number, rendered: boolean): Reading<Address> {
  const reading = parseAddress(text, defaultPort)
  // What something listens on is printed at the start: a number or an IP is no secret, a name might be.
  if ('value' in reading && rendered && !isPlainHost(reading.value.host)) {
    const hint = 'A placeholder can give nothing else here.'
    return { fault: 'is not an IP address with a port', hint }
  }
  return reading
}

/** What a text field accepts. */
interface TextRule {
  readonly kind: string
  readonly pattern: RegExp
  readonly fault: string
  readonly hint: string | null
  readonly privacy?: FieldMeta['privacy']
}

/** A text that follows a rule. A number is taken as it is written. */
export function text({ pattern, fault, hint, ...meta }: TextRule): Field<string> {
  return field({ ...meta, json: { type: ['string', 'number'] } }, (value) =>
    pattern.test(value) ? { value } : { fault, hint },
  )
}

function within(
  value: number,
  { min, max }: Range,
  format: (n: number) => string,
): Reading<number> {
  if (value < min) return { fault: 'is too small', hint: `The least is ${format(min)}.` }
  if (value > max) return { fault: 'is too large', hint: `The most is ${format(max)}.` }
  return { value }
}

/** A chain's id or alias. A metric label, so it cannot come from a placeholder. */
export function chainId(): Field<string> {
  return text({
    kind: 'chain id',
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    fault: 'is not a chain id',
    hint: 'Write one such as ETH1: letters, digits, dot, dash and underscore, 64 at most.',
    privacy: 'public',
  })
}

/** The interface of a listener or an upstream. */
export function apiInterface(): Field<ApiInterface> {
  return oneOf(apiInterfaces, 'public')
}

/** The name of an upstream or a group: it stands in headers, lists with commas, and metrics. */
export function label(kind: string): Field<string> {
  return text({
    kind,
    pattern: /^[!-+\--~](?:[ -+\--~]{0,126}[!-+\--~])?$/,
    fault: `cannot be a ${kind}`,
    hint: 'Printable ASCII without commas and outer spaces, 128 characters at most.',
    privacy: 'public',
  })
}

/** The name of an add-on, an extension, a verification or a method. */
export function word(kind: string): Field<string> {
  return text({
    kind,
    pattern: /^[A-Za-z0-9_*][A-Za-z0-9_./*-]{0,127}$/,
    fault: `cannot be the name of a ${kind}`,
    hint: 'Letters, digits, underscore, dot, slash and dash.',
    privacy: 'public',
  })
}

/** The path of a file. It stands in error messages, so it cannot come from a placeholder. */
export function filePath(): Field<string> {
  return text({
    kind: 'path of a file',
    pattern: /^[^\0\r\n]{1,4096}$/,
    fault: 'is not a path',
    hint: null,
    privacy: 'public',
  })
}
