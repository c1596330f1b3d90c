// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { suggestion } from '../nearest.ts'
import { byteSizePattern, durationPattern, parseByteSize, parseDuration } from '../units.ts'
import { type Address, isPlainHost, parseAddress } from './address.ts'
import { type Fault, type Field, type FieldMeta, type Read, field, orPlaceholder } from './field.ts'

/** An integer within its bounds. */
export function integer(min: number, max: number): Field<number> {
  const wrong = { fault: 'is not a whole number', hint: `Write one from ${min} to ${max}.` }
  return field(
    { kind: `integer, ${min} to ${max}`, type: 'integer', minimum: min, maximum: max },
    within(String(min), String(max), wholeNumber, wrong),
  )
}

const wholeNumber = (text: string) => (/^[+-]?[0-9]+$/.test(text) ? Number(text) : null)

/** An integer within its bounds, or `auto`. */
export function integerOrAuto(min: number, max: number): Field<number | 'auto'> {
  const kind = `integer, ${min} to ${max}, or \`auto\``
  const read = within(String(min), String(max), wholeNumber, {
    fault: 'is neither a whole number nor `auto`',
    hint: `Write auto, or one from ${min} to ${max}.`,
  })
  return field<number | 'auto'>(
    { kind, type: ['integer', 'string'], examples: [min, 'auto'] },
    (text, scalar) => (text === 'auto' ? { value: 'auto' } : read(text, scalar)),
  )
}

/** A duration within its bounds, in milliseconds. */
export function duration(min: string, max: string): Field<number> {
  const pattern = orPlaceholder(durationPattern)
  const examples = ['500ms', '5s', '1m30s']
  return field({ kind: 'duration', type: 'string', pattern, examples }, durationWithin(min, max))
}

/** A duration or `off`, which is null; `on` selects `usual`. */
export function switchableDuration(min: string, max: string, usual: string): Field<number | null> {
  const kind = 'duration, `on` or `off`'
  const read = orOff(durationWithin(min, max))
  return field(
    { kind, type: ['string', 'boolean'], examples: ['on', 'off', usual] },
    (text, scalar) => read(text === 'on' || text === 'true' ? usual : text, scalar),
  )
}

/** A duration, or `never`, which becomes null. */
export function durationOrNever(max: string): Field<number | null> {
  const kind = 'duration or `never`'
  const read = durationWithin('1ms', max)
  return field<number | null>(
    { kind, type: 'string', examples: ['500ms', '1h', 'never'] },
    (text, scalar) => (text === 'never' ? { value: null } : read(text, scalar)),
  )
}

function durationWithin(min: string, max: string): Read<number> {
  const hint = 'Write one such as 500ms, 5s or 1m30s.'
  const read = within(min, max, parseDuration, { fault: 'is not a duration', hint })
  return (text, scalar) =>
    /^0*[1-9][0-9.]*$/.test(text) ? { fault: 'has no unit', hint } : read(text, scalar)
}

/** A byte size within its bounds. */
export function byteSize(min: string, max: string): Field<number> {
  const pattern = orPlaceholder(byteSizePattern)
  const wrong = { fault: 'is not a size', hint: 'Write one such as 10MiB or 512KiB.' }
  return field(
    { kind: 'size', type: ['string', 'integer'], pattern, examples: ['10MiB', '512KiB'] },
    within(min, max, parseByteSize, wrong),
  )
}

/** A quantity from `min` to `max`, with bounds written as in the file. */
function within(
  min: string,
  max: string,
  parse: (text: string) => number | null,
  wrong: Fault,
): Read<number> {
  const [least, most] = [parse(min) ?? 0, parse(max) ?? Infinity]
  return (text) => {
    const value = parse(text)
    if (value === null) return wrong
    if (value < least) return { fault: 'is too small', hint: `The minimum is ${min}.` }
    if (value > most) return { fault: 'is too large', hint: `The maximum is ${max}.` }
    return { value }
  }
}

function orOff<T>(read: Read<T>): Read<T | null> {
  return (text, scalar) =>
    text === 'off' || text === 'false' ? { value: null } : read(text, scalar)
}

export const boolean: Field<boolean> = field({ kind: 'true or false', type: 'boolean' }, (text) => {
  if (text === 'true') return { value: true }
  if (text === 'false') return { value: false }
  return { fault: 'is neither true nor false', hint: null }
})

export function oneOf<T extends string>(
  words: readonly T[],
  privacy?: FieldMeta['privacy'],
): Field<T> {
  const kind = words.map((word) => `\`${word}\``).join(', ')
  return field({ kind, type: 'string', enum: words, privacy }, (text) => {
    const word = words.find((candidate) => candidate === text)
    return word === undefined
      ? { fault: 'is not one of the allowed values', hint: suggestion(text, words) }
      : { value: word }
  })
}

/** A listen address; a missing host means all interfaces. */
export function address(defaultPort: number): Field<Address> {
  return field(addressMeta('address', defaultPort), addressWithPort(defaultPort))
}

/** Port of metrics, health and the page. */
export const adminPort = 7779

/** Listen address of metrics. `off` becomes null, `auto` an address that may be in use. */
export const adminAddress: Field<Address | null> = field(
  addressMeta('address, `auto` or `off`', adminPort),
  (text, scalar) =>
    text === 'auto'
      ? { value: { host: '127.0.0.1', port: adminPort, isOptional: true } }
      : orOff(addressWithPort(adminPort))(text, scalar),
)

/** A remote address. The host is mandatory. */
export function remoteAddress(defaultPort: number): Field<Address> {
  const examples = [`store.example.com:${defaultPort}`]
  const read = addressWithPort(defaultPort)
  return field({ kind: 'address', type: 'string', examples }, (text, scalar) => {
    const reading = read(text, scalar)
    const hint = `Write host:port, such as ${examples[0]}.`
    if ('fault' in reading)
      return { ...reading, hint: reading.fault === 'needs brackets' ? reading.hint : hint }
    return reading.value.host === '0.0.0.0' ? { fault: 'has no host to connect to', hint } : reading
  })
}

function addressMeta(kind: string, defaultPort: number): FieldMeta {
  const examples = [`0.0.0.0:${defaultPort}`, `:${defaultPort}`]
  return { kind, type: ['string', 'integer'], examples }
}

function addressWithPort(defaultPort: number): Read<Address> {
  return (text, { hasPlaceholder }) => {
    const reading = parseAddress(text, defaultPort)
    // The router prints listen addresses. A number or an IP is no secret, but a name may be.
    const isShown = 'fault' in reading || !hasPlaceholder || isPlainHost(reading.value.host)
    const hint = 'A placeholder cannot yield anything else here.'
    return isShown ? reading : { fault: 'is not an IP address with a port', hint }
  }
}

interface TextRule extends Fault, Pick<FieldMeta, 'kind'> {
  readonly pattern: RegExp
}

/** A public text that matches a pattern. A number counts as its written text. */
export function text({ pattern, fault, hint, ...meta }: TextRule): Field<string> {
  return field({ ...meta, privacy: 'public', type: ['string', 'number'] }, (value) =>
    pattern.test(value) ? { value } : { fault, hint },
  )
}

/** A chain's id or alias. It becomes a metric label, so it cannot come from a placeholder. */
export const chainId: Field<string> = text({
  kind: 'chain id',
  pattern: /^(?:evm:\d{1,15}|[A-Z0-9](?:[A-Z0-9. _-]{0,62}[A-Z0-9._-])?)$/i,
  fault: 'is not a chain id',
  hint: 'Write one such as ETH1, Base or evm:8453: letters, digits, dot, dash and underscore, 64 at most.',
})

export const apiInterfaces = ['jsonrpc', 'rest', 'tendermintrpc', 'grpc'] as const
export type ApiInterface = (typeof apiInterfaces)[number]

export const apiInterface: Field<ApiInterface> = oneOf(apiInterfaces, 'public')

/** Name of an upstream or a group, used in headers, comma-separated lists and metrics. */
export function label(kind: string): Field<string> {
  return text({
    kind,
    pattern: /^[!-+\--~](?:[ -+\--~]{0,126}[!-+\--~])?$/,
    fault: `cannot be a ${kind}`,
    hint: 'Printable ASCII without commas and outer spaces, 128 characters at most.',
  })
}

/** Name of an add-on, an extension, a verification or a method. */
export function word(kind: string): Field<string> {
  return text({
    kind,
    pattern: /^[A-Za-z0-9_*][A-Za-z0-9_./*-]{0,127}$/,
    fault: `cannot be the name of a ${kind}`,
    hint: 'Letters, digits, underscore, dot, slash and dash.',
  })
}

/** Name of a method, or pattern of a path, where `*` matches any text. */
export const methodPattern: Field<string> = text({
  kind: 'method pattern',
  pattern: /^[!-~]{1,200}$/,
  fault: 'cannot be a pattern of methods',
  hint: 'Write a name such as eth_getLogs, a path without its verb, or eth_get* for all methods with this prefix.',
})

/** A file path. Error messages show it, so it cannot come from a placeholder. */
export const filePath: Field<string> = text({
  kind: 'path of a file',
  pattern: /^[^\0\r\n]{1,4096}$/,
  fault: 'is not a path',
  hint: null,
})
