// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Place } from '../checks.ts'
import { fieldAt } from '../proto-field.ts'
import type { Question } from '../types.ts'
import { isWildcard, segmentsOf } from './path-tree.ts'

/** Gives what stands at one place of a request; undefined or null when nothing does. */
export type PlaceReader<Request> = (request: Request) => unknown

/** Given by a `PlaceReader` where the request is not of the shape that the place is in. */
export const unreadable = Symbol('unreadable')

/**
 * Stands for a member whose name differs from the known one in its case. Nodes that match names
 * without regard to case read it, others do not: what was asked for is not known.
 */
const misspelt = Symbol('misspelt')

/** A call by its method's name and params. Its params are asked for only where a place is in them. */
export interface NamedCall {
  readonly method: string
  readonly params: unknown
}

export interface RestCall {
  readonly question: Extract<Question, { apiInterface: 'rest' }>
  readonly segments: readonly string[]
}

export type GrpcCall = Extract<Question, { apiInterface: 'grpc' }>

/** Reads places in the params of a JSON-RPC call, given by position or by name. */
export function namedCallPlace(place: Place): PlaceReader<NamedCall> {
  const { param: position = place.name === undefined ? 0 : null, name = null, field = [] } = place
  if (place.query ?? place.header ?? place.message ?? place['path-parameter'])
    return () => unreadable
  const path = typeof field === 'string' ? [field] : field
  const [key] = path
  if (key === undefined) return ({ params }) => param(params, position, name)
  if (path.length === 1) return ({ params }) => step(param(params, position, name), key)
  return ({ params }) => path.reduce<unknown>(step, param(params, position, name))
}

/** Reads places in a REST call to a path pattern. */
export function restPlace(place: Place, pattern: string): PlaceReader<RestCall> {
  const { header, query } = place
  if (header !== undefined) return ({ question }) => question.header(header)
  if (query !== undefined)
    return ({ question }) =>
      question.query === '' ? null : new URLSearchParams(question.query).get(query)
  const parts = segmentsOf(pattern)
  const at = parts.indexOf(`{${place['path-parameter']}}`)
  const isBehindWildcard = parts.slice(0, at).some(isWildcard)
  return at < 0 || isBehindWildcard ? () => unreadable : ({ segments }) => segments[at]
}

/** Reads places in a gRPC call; its message only where a place is in it. */
export function grpcPlace({ header, message: path }: Place): PlaceReader<GrpcCall> {
  if (header !== undefined) return (call) => call.header(header)
  if (path === undefined) return () => unreadable
  return ({ message }) => (message === undefined ? unreadable : fieldAt(message, path))
}

/** The member of this name; `misspelt` where only one like it is there; undefined without either. */
export function member(object: object, name: string): unknown {
  if (Object.hasOwn(object, name)) return (object as Record<string, unknown>)[name]
  const folded = name.toLowerCase()
  return Object.keys(object).some((each) => each.toLowerCase() === folded) ? misspelt : undefined
}

function param(params: unknown, position: number | null, name: string | null): unknown {
  if (Array.isArray(params)) return position === null ? undefined : (params[position] as unknown)
  if (params === undefined || params === null) return undefined
  if (typeof params !== 'object' || name === null) return unreadable
  return member(params, name)
}

function step(value: unknown, key: string | number): unknown {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value) !== (typeof key === 'number'))
    return value === misspelt ? misspelt : unreadable
  return typeof key === 'number' ? (value as unknown[])[key] : member(value, key)
}
