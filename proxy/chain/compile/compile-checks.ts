// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { InterfaceSpec, MethodSpec, Place } from '../chain-spec.ts'
import type { Check } from '../check-rule.ts'
import type { PlaceReader } from './block-reader.ts'

/** The checks of one request; a list when they are the same for all requests of the method. */
export type Checks<Request> = readonly Check[] | ((request: Request) => readonly Check[])

const none: readonly Check[] = Object.freeze([])

/** Makes ready what an answer to the method must show. */
export function compileChecks<Request>(
  { checks }: MethodSpec,
  { verifications }: InterfaceSpec,
  placeReader: (place: Place) => PlaceReader<Request>,
): Checks<Request> {
  if (checks.length === 0) return none
  const fixed: Check[] = []
  const read: { readonly rule: Check['rule']; readonly wanted: PlaceReader<Request> }[] = []
  for (const rule of checks) {
    if (rule.place !== null) read.push({ rule, wanted: placeReader(rule.place) })
    else if (rule.check === 'expected')
      fixed.push({ rule, wanted: expectedBy(rule.verification, verifications) })
    else fixed.push({ rule, wanted: undefined })
  }
  if (read.length === 0) return Object.freeze(fixed)
  return (request) => [
    ...fixed,
    ...read.map(({ rule, wanted }) => ({ rule, wanted: wanted(request) })),
  ]
}

function expectedBy(name: string, verifications: InterfaceSpec['verifications']): string | null {
  return verifications.find((each) => each.name === name && each.addon === null)?.expected ?? null
}
