// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A value of JSON, as it is read from a manifest. */
export type Json = string | number | boolean | null | readonly Json[] | JsonMap

export interface JsonMap {
  readonly [key: string]: Json
}

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Without keys whose value is null: the API server takes these as not set. */
export function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls)
  if (!isMap(value)) return value
  const set = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(set.map(([key, inner]) => [key, withoutNulls(inner)]))
}
