// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toQuantity } from '../json/values.ts'
import type { ValuePlace } from '../chain/native/schema.ts'
import type { BlockPoint, BlockRef, BlockTag } from '../chain/types.ts'
import { bufferOf } from '../json/scanner.ts'
import type { Call, Journal } from './call.ts'
import type { RelayContext } from './relay-context.ts'
import type { Reply } from './reply.ts'
import { shownBlock } from './shown-block.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Outgoing } from '../upstream/wire.ts'

/**
 * The same call with a block number in place of a tag. Null if the call does not use the tag, or
 * the request cannot carry a number.
 */
export function pinned<C extends Call>(
  call: C,
  number: number,
  tag: BlockTag = 'latest',
): C | null {
  const { method, request } = call
  const { blockPlaces, block } = method
  const isTag = (point: BlockPoint) => point.kind === 'tag' && point.tag === tag
  if (!blockPlaces || !pointsOf(block).some(isTag)) return null
  const { places, isHex } = blockPlaces
  const height = isHex ? toQuantity(number) : number
  let changed: Outgoing | null = request
  for (const [at, point] of pointsOf(block).entries()) {
    const place = places[at]
    if (!isTag(point)) continue
    changed = changed && place ? withHeight(changed, place, height) : null
  }
  if (changed === null) return null
  const atNumber = (point: BlockPoint): BlockPoint =>
    isTag(point) ? { kind: 'number', number } : point
  const ref: BlockRef =
    block.kind === 'range'
      ? { kind: 'range', from: atNumber(block.from), to: atNumber(block.to) }
      : { kind: 'number', number }
  // A node that lacks the block may answer null or an empty list.
  const floor = { block: Math.max(method.floor?.block ?? 0, number), shown: null }
  return { ...call, method: { ...method, block: ref, floor, tellsTip: null }, request: changed }
}

/**
 * With `rpc-min-block`, replaces `latest` by the known head of the upstream. The response header
 * reports that number, and the client may request it next.
 */
export function atKnownHead(call: Call, { latest }: Upstream): Call {
  if (call.directives.minBlock === null || latest === null) return call
  return pinned(call, latest.block) ?? call
}

const bareNumber = /("result"\s*:\s*"?)(?:0x[0-9a-f]+|\d+)/i

/**
 * Raises a latest block number to the highest recent head, so that it is monotonic. Votes,
 * sessions and clients that select an upstream get its own number, but none below `rpc-min-block`.
 * Answers of test nodes, which may roll back, are never cacheable and stay unchanged.
 */
export function atLeastTip(
  reply: Reply,
  { method: { tellsTip, cacheable }, directives }: Call,
  { pool: { tracker }, dialect }: Pick<RelayContext, 'pool' | 'dialect'>,
): Reply {
  if (tellsTip?.path.length !== 0 || tellsTip.header !== undefined) return reply
  if (!cacheable) return reply
  const { incoming } = reply
  const shown = shownBlock(incoming, null, tellsTip, dialect)
  const isChosen = directives.only !== null || directives.selectProvider !== null
  const least = Math.max(isChosen ? 0 : tracker.highestHead, directives.minBlock ?? 0)
  if (shown === null || shown >= least) return reply
  const number = tellsTip.encoding === 'hex' ? toQuantity(least) : least
  const text = bufferOf(incoming.body as Uint8Array).toString('latin1')
  const body = Buffer.from(text.replace(bareNumber, `$1${number}`), 'latin1')
  return { ...reply, incoming: { ...incoming, body }, latestBlock: least }
}

/**
 * The call for a part of its range of blocks, with its own journal.
 * @param floor the last block that the node must have
 */
export function withRange(
  call: Call,
  from: number,
  to: number,
  journal: Journal,
  floor = to,
): Call {
  const { method } = call
  const { batch: _, ...request } = call.request
  const [first = {}, last = {}] = method.blockPlaces?.places ?? []
  const begun = withHeight(request, first, toQuantity(from)) ?? request
  const number = (block: number) => ({ kind: 'number', number: block }) as const
  return {
    ...{ ...call, journal, payload: undefined },
    request: withHeight(begun, last, toQuantity(to)) ?? request,
    method: {
      ...method,
      block: { kind: 'range', from: number(from), to: number(to) },
      // A node without the last block may return fewer items instead of an error.
      floor: { block: Math.max(method.floor?.block ?? 0, floor), shown: null },
    },
  }
}

function pointsOf(block: BlockRef): readonly BlockPoint[] {
  if (block.kind === 'range') return [block.from, block.to]
  return block.kind === 'none' || block.kind === 'invalid' ? [] : [block]
}

/** The request with this height at the given place; null if it has no such place. */
function withHeight(
  request: Outgoing,
  place: ValuePlace,
  height: string | number,
): Outgoing | null {
  const { header, query, name } = place
  if (header !== undefined) {
    const others = request.headers.filter(
      (_, at) => request.headers[at - (at % 2)]?.toLowerCase() !== header,
    )
    return { ...request, headers: [...others, header, String(height)] }
  }
  if (query !== undefined) return withQuery(request, query, height)
  if (place.message !== undefined || place['path-parameter'] !== undefined) return null
  // Tendermint RPC in URI style.
  if (request.verb === 'GET') return name === undefined ? null : withQuery(request, name, height)
  return withParam(request, place, height)
}

function withQuery(request: Outgoing, name: string, height: string | number): Outgoing {
  const [path = '', ...query] = request.path.split('?')
  const others = query
    .join('?')
    .split('&')
    .filter((each) => each !== '' && each.split('=')[0] !== name)
  return { ...request, path: `${path}?${[...others, `${name}=${height}`].join('&')}` }
}

function withParam(
  request: Outgoing,
  { param, name, field = [] }: ValuePlace,
  height: string | number,
): Outgoing | null {
  if (!(request.body instanceof Uint8Array)) return null
  // `asWritten` preserves the spelling of numbers, which may exceed doubles.
  const document = JSON.parse(Buffer.from(request.body).toString(), asWritten) as {
    params?: unknown
  }
  const at = param ?? (name === undefined ? 0 : null)
  const path = typeof field === 'string' ? [field] : field
  const params = document?.params ?? (at === null ? {} : [])
  const key = Array.isArray(params) ? at : name
  if (key === null || key === undefined) return null
  // Tendermint RPC writes heights as strings.
  const written = typeof height === 'number' ? String(height) : height
  const changed = put(params, [key, ...path], written)
  return changed === undefined
    ? null
    : { ...request, body: Buffer.from(JSON.stringify({ ...document, params: changed })) }
}

/** TypeScript has no type for it yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

function asWritten(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? rawJSON(context?.source ?? String(value)) : value
}

/** A copy with the value at the path; undefined if the path does not exist. */
function put(
  holder: unknown,
  [key, ...rest]: readonly (string | number)[],
  value: string,
): unknown {
  if (key === undefined) return value
  if (typeof key === 'number') {
    if (!Array.isArray(holder) || holder.length < key) return undefined
    const items = holder as unknown[]
    const item = put(items[key] ?? {}, rest, value)
    return item === undefined ? undefined : items.toSpliced(key, 1, item)
  }
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return undefined
  const item = put((holder as Record<string, unknown>)[key] ?? {}, rest, value)
  return item === undefined ? undefined : { ...holder, [key]: item }
}
