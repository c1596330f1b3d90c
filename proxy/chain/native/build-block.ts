// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRule, Place } from '../chain-spec.ts'
import type { NativeBlock } from './schema.ts'

type NativePlace = Exclude<NativeBlock, string>
type PointPlace = NonNullable<NativePlace['first-of']>[number]

/** A method's `block` as a rule. */
export function buildBlock(block: NativeBlock): BlockRule {
  if (typeof block === 'string') return { kind: 'fixed', block }
  if (block['from-param'] !== undefined && block['to-param'] !== undefined)
    return range(
      param(block['from-param'], block['from-name'], []),
      param(block['to-param'], block['to-name'], []),
      null,
      block,
    )
  if (block.from !== undefined && block.to !== undefined) {
    const at = (field: string) => param(block.param ?? 0, block.name, [field])
    return range(at(block.from), at(block.to), block.hash ? at(block.hash) : null, block)
  }
  return {
    kind: 'point',
    places: (block['first-of'] ?? [block]).map(place),
    form: block.form ?? 'any',
    absent: block.default ?? null,
    numberField: block['number-field'] ?? 'blockNumber',
    hashField: block['hash-field'] ?? 'blockHash',
  }
}

function range(from: Place, to: Place, hash: Place | null, block: NativePlace): BlockRule {
  const absentTo = block.default === 'none' ? null : (block.default ?? null)
  return { kind: 'range', from, to, hash, absentFrom: block['default-from'] ?? absentTo, absentTo }
}

/** The same; null where none is told. */
export function placeIfAny(point: PointPlace): Place | null {
  const { param: position, query, header, message } = point
  const ways = [position, query, header, message, point['path-parameter']]
  return ways.every((way) => way === undefined) ? null : place(point)
}

/** Where one value stands in a request. */
export function place(point: PointPlace): Place {
  if (point.query !== undefined) return { in: 'query', name: point.query }
  if (point.header !== undefined) return { in: 'header', name: point.header }
  if (point.message !== undefined) return { in: 'message', path: point.message }
  if (point['path-parameter'] !== undefined) return { in: 'path', name: point['path-parameter'] }
  const field = point.field ?? []
  return param(point.param ?? 0, point.name, typeof field === 'string' ? [field] : field)
}

function param(
  position: number,
  name: string | undefined,
  path: readonly (string | number)[],
): Place {
  return { in: 'params', position, name: name ?? null, path }
}
