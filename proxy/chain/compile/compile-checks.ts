// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NativeInterface, NativeMethod } from '../native/schema.ts'
import type { Place } from '../place.ts'
import type { Check, Condition } from '../check-rule.ts'
import { buildCheck } from './build-check.ts'
import type { PlaceReader } from './places.ts'

/** The checks of one request; a list when they are the same for all requests of the method. */
export type Checks<Request> = readonly Check[] | ((request: Request) => readonly Check[])

const none: readonly Check[] = Object.freeze([])

/** Makes ready what an answer to the method must show. */
export function compileChecks<Request>(
  { checks: native = [] }: NativeMethod,
  { verifications = {} }: NativeInterface,
  placeReader: (place: Place) => PlaceReader<Request>,
): Checks<Request> {
  if (native.length === 0) return none
  const checks = native.map(buildCheck)
  const rows = checks.map((rule): Row<Request> => {
    const applies = rule.check === 'shape' && rule.when ? meets(rule.when, placeReader) : null
    if (rule.place !== null)
      return { rule, applies, read: placeReader(rule.place), wanted: undefined }
    const isExpected = rule.check === 'expected'
    const wanted = isExpected ? (verifications[rule.verification]?.expected ?? null) : undefined
    return { rule, applies, read: null, wanted }
  })
  if (rows.every(({ read, applies }) => read === null && applies === null))
    return Object.freeze(rows.map(({ rule, wanted }) => ({ rule, wanted })))
  return (request) =>
    rows
      .filter(({ applies }) => applies?.(request) ?? true)
      .map(({ rule, read, wanted }) => ({ rule, wanted: read ? read(request) : wanted }))
}

/** Whether a request says what a rule is for. */
function meets<Request>(
  { place, is, absent }: Condition,
  placeReader: (place: Place) => PlaceReader<Request>,
): (request: Request) => boolean {
  const read = placeReader(place)
  return (request) => {
    const told = read(request) ?? absent
    return is.some((each) => each === told)
  }
}

/** A rule, and how to read what a request wants, or what all of them want. */
interface Row<Request> {
  readonly rule: Check['rule']
  /** Null: to all requests. */
  readonly applies: ((request: Request) => boolean) | null
  readonly read: PlaceReader<Request> | null
  readonly wanted: unknown
}
