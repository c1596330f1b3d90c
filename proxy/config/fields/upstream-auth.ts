// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { hopByHop } from '../hop-by-hop.ts'
import { quote } from '../problem.ts'
import { keysOfHeader, keysOfParameter, likelyKeys, Secret } from '../secret.ts'
import { isMap, Scalar, type Tree, type TreeMap } from '../yaml/scalar.ts'
import { type IssueParams, kindKeyword } from './field.ts'

/** Headers or query parameters, by name. */
type SecretMap = ReadonlyMap<string, Secret>

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers that belong to one connection or are the router's own business. */
const refusedHeaders: ReadonlySet<string> = new Set([...hopByHop, 'expect', 'te', 'trailer'])

/** A map of header names to values. */
export function authHeaders(): z.ZodType<SecretMap, TreeMap> {
  return z
    .custom<TreeMap>((value) => isMap(value as Tree))
    .transform((map, context) => {
      const headers = new Map<string, Secret>()
      for (const [key, value] of Object.entries(map)) {
        const isTwice = [...headers.keys()].some((each) => each.toLowerCase() === key.toLowerCase())
        const fault = isTwice
          ? `${quote(key)} stands twice; header names have no case`
          : headerNameFault(key)
        if (fault !== null) report(context, [key], fault)
        headers.set(key, readSecret(value, key, headerValueFault, keysOfHeader, context))
      }
      return headers
    })
    .meta({
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      [kindKeyword]: 'map of header to value',
    })
}

function headerNameFault(name: string): string | null {
  if (!headerName.test(name)) return `${quote(name)} is not a header name`
  if (!refusedHeaders.has(name.toLowerCase())) return null
  return `the header ${quote(name)} belongs to the connection and cannot be set`
}

function headerValueFault(value: string): string | null {
  if (/[\r\n]/.test(value)) return 'the value has a line break in it'
  return headerValue.test(value) ? null : 'the value has a character that a header cannot carry'
}

const noFault = (): null => null

/** A map of query parameters, or one text `k=v&k2=v2`. */
export function authQuery(): z.ZodType<SecretMap, TreeMap | Scalar> {
  return z
    .custom<TreeMap | Scalar>((value) => isMap(value as Tree) || value instanceof Scalar)
    .transform((input, context) => {
      if (input instanceof Scalar) return readQueryText(input, context)
      if (Object.hasOwn(input, '')) report(context, [], 'a parameter has no name')
      return new Map(
        Object.entries(input).map(([key, value]) => [
          key,
          readSecret(value, key, noFault, keysOfParameter, context),
        ]),
      )
    })
    .meta({
      type: ['object', 'string'],
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      [kindKeyword]: 'map of parameter to value, or `k=v&k2=v2`',
    })
}

function readQueryText(scalar: Scalar, context: z.RefinementCtx): SecretMap {
  const query = new Map<string, Secret>()
  const text = scalar.reveal()
  if (text === null) {
    report(context, [], '', null, true)
    return query
  }
  for (const [key, value] of new URLSearchParams(text)) {
    if (key === '' || value === '')
      report(context, [], 'a parameter has no name or no value', 'Write k=v&k2=v2.')
    else if (query.has(key)) report(context, [], 'a parameter stands twice')
    query.set(key, secretOf(value, scalar, keysOfParameter(key, value)))
  }
  if (query.size === 0) report(context, [], 'there is no parameter', 'Write k=v&k2=v2.')
  return query
}

function readSecret(
  tree: Tree,
  key: string | null,
  faultOf: (value: string) => string | null,
  keysIn: typeof keysOfHeader,
  context: z.RefinementCtx,
): Secret {
  const path = key === null ? [] : [key]
  if (!(tree instanceof Scalar)) {
    report(context, path, tree === null ? 'has no value' : 'a single value is wanted')
    return new Secret('')
  }
  const value = tree.reveal()
  // What is reported already, where its placeholder was rendered.
  if (value === null) report(context, path, '', null, true)
  const fault = value === '' ? 'the value is empty' : faultOf(value ?? '')
  const hint = tree.hasPlaceholder ? 'Look at the variables that it is made of.' : null
  if (fault !== null) report(context, path, fault, hint)
  return secretOf(value ?? '', tree, keysIn(key ?? '', value ?? ''))
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
  silent = false,
): void {
  const params: IssueParams = { hint, silent }
  context.addIssue({ code: 'custom', path, message, params: { ...params } })
}
