// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { quote } from '../problem.ts'
import { keysOfHeader, keysOfParameter, leftOverFault, Secret } from '../secret.ts'
import { isMap, Scalar, type Tree, type TreeMap } from '../yaml/scalar.ts'
import { kindKeyword, report } from './field.ts'

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Lower-case headers that belong to a connection, not to a call (RFC 9110, 7.6.1). They are neither
 * forwarded nor configurable.
 */
export const hopByHop = [
  'connection',
  'content-length',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
] as const

/** Headers that a config cannot set: hop-by-hop headers, and headers that the router controls. */
const refusedHeaders: ReadonlySet<string> = new Set([...hopByHop, 'expect', 'te', 'trailer'])

/** Rules that differ between headers and query parameters. */
interface Rules {
  /** Describes what is wrong with a name, given the names before it. */
  readonly nameFault: (name: string, others: readonly string[]) => string | null
  readonly valueFault: (value: string) => string | null
  readonly keysIn: typeof keysOfHeader
}

const headerRules: Rules = {
  nameFault(name, others) {
    const lower = name.toLowerCase()
    if (others.some((other) => other.toLowerCase() === lower))
      return `${quote(name)} is repeated; header names have no case`
    if (!headerName.test(name)) return `${quote(name)} is not a header name`
    if (!refusedHeaders.has(lower)) return null
    return `the header ${quote(name)} belongs to the connection and cannot be set`
  },
  valueFault(value) {
    if (/[\r\n]/.test(value)) return 'the value has a line break in it'
    return headerValue.test(value) ? null : 'the value has a character that a header cannot carry'
  },
  keysIn: keysOfHeader,
}

const queryRules: Rules = {
  nameFault: (name) => (name === '' ? 'a parameter has no name' : null),
  valueFault: () => null,
  keysIn: keysOfParameter,
}

const additionalProperties = { type: ['string', 'number', 'boolean'] }

/** A map of header names to values. */
export const authHeaders = z
  .custom<TreeMap>((value) => isMap(value as Tree))
  .transform((map, context) => readMap(map, headerRules, context))
  .meta({ type: 'object', additionalProperties, [kindKeyword]: 'map of header to value' })

/** A map of query parameters, or a text such as `k=v&k2=v2`. */
export const authQuery = z
  .custom<TreeMap | Scalar>((value) => isMap(value as Tree) || value instanceof Scalar)
  .transform((input, context) => {
    const map = input instanceof Scalar ? readQueryText(input, context) : input
    return readMap(map, queryRules, context)
  })
  .meta({
    type: ['object', 'string'],
    additionalProperties,
    [kindKeyword]: 'map of parameter to value, or `k=v&k2=v2`',
  })

/** Parses a query text into a map. Messages omit the parameter names, which may be secret. */
function readQueryText(scalar: Scalar, context: z.RefinementCtx): TreeMap {
  const text = scalar.reveal()
  if (text === null) return {}
  const parameters = [...new URLSearchParams(text)]
  const part = (value: string) => new Scalar(value, value, scalar.hasPlaceholder, scalar.keys())
  const map = Object.fromEntries(parameters.map(([name, value]) => [name, part(value)]))
  const wrong = (fault: string) => report(context, [], fault, 'Write k=v&k2=v2.')
  if (parameters.length === 0) wrong('there is no parameter')
  if (Object.keys(map).length < parameters.length) wrong('a parameter is repeated')
  if (!parameters.flat().includes('')) return map
  wrong('a parameter has no name or no value')
  return {}
}

function readMap(
  map: TreeMap,
  { nameFault, valueFault, keysIn }: Rules,
  context: z.RefinementCtx,
): ReadonlyMap<string, Secret> {
  const secrets = new Map<string, Secret>()
  for (const [name, tree] of Object.entries(map)) {
    const fault = nameFault(name, [...secrets.keys()])
    if (fault !== null) report(context, [name], fault, 'Remove it.')
    secrets.set(name, new Secret(''))
    if (!(tree instanceof Scalar)) {
      report(context, [name], tree === null ? 'has no value' : 'expected a single value')
      continue
    }
    const value = tree.reveal()
    // Rendering already reported the failed placeholder.
    if (value === null) continue
    const wrong = value === '' ? 'the value is empty' : valueFault(value)
    const ofPlain = value === '' ? 'Write a value, or remove it.' : null
    const hint = tree.hasPlaceholder ? 'Check the variables in it.' : ofPlain
    const leftOver = leftOverFault(value, tree.written)
    if (wrong !== null) report(context, [name], wrong, hint)
    if (leftOver) {
      report(context, [name], `the value ${leftOver.fault}`, leftOver.hint)
      continue
    }
    secrets.set(name, new Secret(value, undefined, [...keysIn(name, value), ...tree.keys()]))
  }
  return secrets
}
