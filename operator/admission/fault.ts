// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A value of JSON, as it is read from a manifest. */
export type Json = string | number | boolean | null | readonly Json[] | JsonMap

export interface JsonMap {
  readonly [key: string]: Json
}

/** What the API server would refuse an object for. */
export interface Fault {
  /** Such as `spec.endpoints[0].port`; empty for the object as a whole. */
  readonly path: string
  readonly message: string
  /** Whether rules cannot be judged any more: the object has not even the form that they are written for. */
  readonly blocks: boolean
}

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** The path of a field. */
export function fieldOf(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
