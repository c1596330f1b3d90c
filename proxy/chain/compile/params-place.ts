// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Place } from '../chain-spec.ts'
import { unreadable } from './block-reader.ts'
import type { PlaceReader } from './block-reader.ts'
import { member, misspelt } from './member.ts'

/** Reads places in the params of a JSON-RPC call, given by position or by name. */
export function paramsPlace(place: Place): PlaceReader<unknown> {
  if (place.in !== 'params') return () => unreadable
  const { position, name, path } = place
  const [key] = path
  if (key === undefined) return (params) => param(params, position, name)
  if (path.length === 1) return (params) => field(param(params, position, name), key)
  return (params) => {
    let value = param(params, position, name)
    for (const step of path) value = field(value, step)
    return value
  }
}

function param(params: unknown, position: number | null, name: string | null): unknown {
  if (Array.isArray(params)) return position === null ? undefined : (params[position] as unknown)
  if (params === undefined || params === null) return undefined
  if (typeof params !== 'object' || name === null) return unreadable
  return member(params, name)
}

function field(value: unknown, key: string | number): unknown {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value) !== (typeof key === 'number'))
    return value === misspelt ? misspelt : unreadable
  return typeof key === 'number' ? (value as unknown[])[key] : member(value, key)
}
