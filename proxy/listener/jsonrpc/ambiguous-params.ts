// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CallKind } from '../../chain/types.ts'
import { ArrayCursor } from '../../json/array-cursor.ts'
import { ObjectCursor } from '../../json/object-cursor.ts'
import { foldedName, parseSpan } from '../../json/text.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { RequestRefused, type JsonRpcRequest } from './jsonrpc-request.ts'

/** What a spec or a check reads of params lies no deeper. */
const maxDepth = 4
/** Of a name in a message. */
const maxShownLength = 40

/**
 * Some nodes match the names of members without regard to case, and of two that are alike the last
 * one counts there; for others it is the first, or the one that is spelled right. What such a request
 * asks for nobody can tell, so nobody could tell whether its answer is true. Only params that were read
 * matter: with others the router does not know what their names mean.
 * @throws RequestRefused -32602
 */
export function refuseAmbiguousParams(request: JsonRpcRequest, kind: CallKind): void {
  const { paramsSpan } = request
  // What subscriptions filter by is read later.
  const isRead = kind === 'subscribe' || request.hasReadParams
  if (!isRead || paramsSpan === null || !holdsObject(request.params)) return
  const names = namesAlike(request.body, paramsSpan.start, 0)
  if (names === null) return
  const [first, second] = names.map(shown)
  const why =
    first === second
      ? `"params" has ${first} twice in one object`
      : `"params" has ${first} and ${second} in one object, which some nodes take for the same`
  throw new RequestRefused(new RelayError(errorKinds.invalidParams, why), request.id)
}

/** Texts, numbers and lists of them have no names. */
function holdsObject(params: unknown): boolean {
  if (!Array.isArray(params)) return true
  return params.some((each) => typeof each === 'object' && each !== null)
}

/** The first two alike in one object, at the offset of a value; null where there are none. */
function namesAlike(body: Uint8Array, at: number, depth: number): readonly [string, string] | null {
  if (depth === maxDepth) return null
  if (body[at] === 0x5b) {
    const cursor = new ArrayCursor(body, at)
    while (cursor.next()) {
      const found = namesAlike(body, cursor.valueStart, depth + 1)
      if (found) return found
    }
  }
  if (body[at] !== 0x7b) return null
  const names = new Map<string, string>()
  const cursor = new ObjectCursor(body, at)
  while (cursor.next()) {
    const name = parseSpan(body, cursor.nameStart, cursor.nameEnd) as string
    const folded = foldedName(name)
    const other = names.get(folded)
    if (other !== undefined) return [other, name]
    names.set(folded, name)
    const found = namesAlike(body, cursor.valueStart, depth + 1)
    if (found) return found
  }
  return null
}

function shown(name: string): string {
  return JSON.stringify(name.length > maxShownLength ? `${name.slice(0, maxShownLength)}...` : name)
}
