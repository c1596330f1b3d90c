// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Place } from '../checks.ts'
import { fieldAt } from '../proto-field.ts'
import type { Question } from '../types.ts'
import { isWildcard, segmentsOf } from './path-tree.ts'

/**
 * Gives what stands at one place of a request; undefined or null when nothing does.
 * @param segments of the path of a REST call; of other calls none
 */
export type PlaceReader = (question: Question, segments: readonly string[]) => unknown

/** Given by a `PlaceReader` where the request is not of the shape that the place is in. */
export const unreadable = Symbol('unreadable')

/**
 * Stands for a member whose name differs from the known one in its case. Nodes that match names
 * without regard to case read it, others do not: what was asked for is not known.
 */
const misspelt = Symbol('misspelt')

/** @param pattern of the path of a REST call */
export function placeReader(place: Place, pattern: string): PlaceReader {
  const { header, query, message, 'path-parameter': parameter } = place
  if (header !== undefined)
    return (question) => ('header' in question ? question.header(header) : unreadable)
  if (query !== undefined)
    return (question) => {
      if (question.apiInterface !== 'rest') return unreadable
      return question.query === '' ? null : new URLSearchParams(question.query).get(query)
    }
  if (message !== undefined)
    return (question) =>
      question.apiInterface === 'grpc' && question.message !== undefined
        ? fieldAt(question.message, message)
        : unreadable
  if (parameter === undefined) return paramReader(place)
  const parts = segmentsOf(pattern)
  const at = parts.indexOf(`{${parameter}}`)
  const isBehindWildcard = parts.slice(0, at).some(isWildcard)
  return at < 0 || isBehindWildcard ? () => unreadable : (_, segments) => segments[at]
}

/** Reads the params of a call by name, which may be a list or an object; only where a place is in them. */
function paramReader({ param: position, name, field = [] }: Place): PlaceReader {
  const at = position ?? (name === undefined ? 0 : null)
  const path = typeof field === 'string' ? [field] : field
  return (question) =>
    question.apiInterface === 'rest' || question.apiInterface === 'grpc'
      ? unreadable
      : path.reduce<unknown>(step, param(question.params, at, name))
}

/** The member of this name; `misspelt` where only one like it is there; undefined without either. */
export function member(object: object, name: string): unknown {
  if (Object.hasOwn(object, name)) return (object as Record<string, unknown>)[name]
  const folded = name.toLowerCase()
  return Object.keys(object).some((each) => each.toLowerCase() === folded) ? misspelt : undefined
}

function param(params: unknown, position: number | null, name: string | undefined): unknown {
  if (Array.isArray(params)) return position === null ? undefined : (params[position] as unknown)
  if (params === undefined || params === null) return undefined
  if (typeof params !== 'object' || name === undefined) return unreadable
  return member(params, name)
}

function step(value: unknown, key: string | number): unknown {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value) !== (typeof key === 'number'))
    return value === misspelt ? misspelt : unreadable
  return typeof key === 'number' ? (value as unknown[])[key] : member(value, key)
}
