// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NativeMethod } from '../native/schema.ts'
import type { Place } from '../place.ts'
import type { Check } from '../checks.ts'
import type { PlaceReader } from './places.ts'

/** The checks of one request; a list when they are the same for all requests of the method. */
export type Checks<Request> = readonly Check[] | ((request: Request) => readonly Check[])

/** Makes ready what an answer to the method must show. */
export function compileChecks<Request>(
  { checks = [] }: NativeMethod,
  placeReader: (place: Place) => PlaceReader<Request>,
): Checks<Request> {
  const rows = checks.map((rule) => {
    const isPlaced = rule.check === 'identity' || rule.check === 'logs' || rule.check === 'sent'
    return { rule, read: isPlaced ? placeReader(rule) : null }
  })
  if (rows.every(({ read }) => read === null))
    return Object.freeze(checks.map((rule) => ({ rule, wanted: undefined })))
  return (request) => rows.map(({ rule, read }) => ({ rule, wanted: read?.(request) }))
}
