// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { quote } from '../problem.ts'
import { keysOfHeader, keysOfParameter, likelyKeys, Secret } from '../secret.ts'
import { isMap, Scalar, type Tree, type TreeMap } from '../yaml/scalar.ts'
import { type IssueParams, kindKeyword } from './field.ts'

/** Headers or query parameters, by name. */
type SecretMap = ReadonlyMap<string, Secret>

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Headers that belong to one connection and not to the call, in lower case (RFC 9110, 7.6.1). They
 * are neither passed on nor taken from a config.
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

/** Headers that belong to one connection or are the router's own business. */
const refusedHeaders: ReadonlySet<string> = new Set([...hopByHop, 'expect', 'te', 'trailer'])

const secretValue = { type: ['string', 'number', 'boolean'] }

/** A map of header names to values. */
export function authHeaders(): z.ZodType<SecretMap, TreeMap> {
  return z
    .custom<TreeMap>((value) => isMap(value as Tree))
    .transform((map, context) =>
      readMap(map, headerNameFault, headerValueFault, keysOfHeader, context),
    )
    .meta({
      type: 'object',
      additionalProperties: secretValue,
      [kindKeyword]: 'map of header to value',
    })
}

function headerNameFault(name: string, others: readonly string[]): string | null {
  const lower = name.toLowerCase()
  if (others.some((other) => other.toLowerCase() === lower))
    return `${quote(name)} stands twice; header names have no case`
  if (!headerName.test(name)) return `${quote(name)} is not a header name`
  if (!refusedHeaders.has(lower)) return null
  return `the header ${quote(name)} belongs to the connection and cannot be set`
}

function headerValueFault(value: string): string | null {
  if (/[\r\n]/.test(value)) return 'the value has a line break in it'
  return headerValue.test(value) ? null : 'the value has a character that a header cannot carry'
}

/** A map of query parameters, or one text `k=v&k2=v2`. */
export function authQuery(): z.ZodType<SecretMap, TreeMap | Scalar> {
  const nameFault = (name: string) => (name === '' ? 'a parameter has no name' : null)
  return z
    .custom<TreeMap | Scalar>((value) => isMap(value as Tree) || value instanceof Scalar)
    .transform((input, context) =>
      input instanceof Scalar
        ? readQueryText(input, context)
        : readMap(input, nameFault, () => null, keysOfParameter, context),
    )
    .meta({
      type: ['object', 'string'],
      additionalProperties: secretValue,
      [kindKeyword]: 'map of parameter to value, or `k=v&k2=v2`',
    })
}

function readQueryText(scalar: Scalar, context: z.RefinementCtx): SecretMap {
  const query = new Map<string, Secret>()
  const text = scalar.reveal()
  if (text === null) return query
  for (const [key, value] of new URLSearchParams(text)) {
    if (key === '' || value === '')
      report(context, [], 'a parameter has no name or no value', 'Write k=v&k2=v2.')
    else if (query.has(key)) report(context, [], 'a parameter stands twice')
    query.set(key, secretOf(value, scalar, keysOfParameter(key, value)))
  }
  if (query.size === 0) report(context, [], 'there is no parameter', 'Write k=v&k2=v2.')
  return query
}

function readMap(
  map: TreeMap,
  nameFault: (name: string, others: readonly string[]) => string | null,
  valueFault: (value: string) => string | null,
  keysIn: typeof keysOfHeader,
  context: z.RefinementCtx,
): SecretMap {
  const secrets = new Map<string, Secret>()
  for (const [name, tree] of Object.entries(map)) {
    const fault = nameFault(name, [...secrets.keys()])
    if (fault !== null) report(context, [name], fault)
    secrets.set(name, new Secret(''))
    if (!(tree instanceof Scalar)) {
      report(context, [name], tree === null ? 'has no value' : 'a single value is wanted')
      continue
    }
    const value = tree.reveal()
    // Where its placeholder was rendered, that is reported already.
    if (value === null) continue
    const wrong = value === '' ? 'the value is empty' : valueFault(value)
    const hint = tree.hasPlaceholder ? 'Look at the variables that it is made of.' : null
    if (wrong !== null) report(context, [name], wrong, hint)
    secrets.set(name, secretOf(value, tree, keysIn(name, value)))
  }
  return secrets
}

/**
 * @param scalar where the value, or more than it, stands
 * @param keys in the value itself
 */
function secretOf(value: string, scalar: Scalar, keys: readonly string[]): Secret {
  return new Secret(value, undefined, [...keys, ...scalar.filledIn().flatMap(likelyKeys)])
}

function report(
  context: z.RefinementCtx,
  path: string[],
  message: string,
  hint: string | null = null,
): void {
  const params: IssueParams = { hint, silent: false }
  context.addIssue({ code: 'custom', path, message, params: { ...params } })
}
