// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { type Field, kindKeyword } from './fields/field.ts'
import { Scalar } from './yaml/scalar.ts'

/** Keys that the config format knows and this version does not do yet. To build a capability is to delete its key here. */
const unbuiltKeys = ['cache-be'] as const

export function isUnbuilt(key: string): boolean {
  return (unbuiltKeys as readonly string[]).includes(key)
}

/** The sentence that refuses a capability. */
export function unsupportedMessage(name: string): string {
  return `${name} is not supported by this version`
}

/** Refuses whatever is written, unless it switches the capability off. */
export function unbuilt(key: (typeof unbuiltKeys)[number], kind: string): Field<null> {
  const isOff = (value: unknown) => value instanceof Scalar && value.reveal() === 'false'
  return z
    .custom<Scalar>(isOff, { error: unsupportedMessage(key), params: { hint: null } })
    .transform(() => null)
    .meta({ [kindKeyword]: kind })
}
