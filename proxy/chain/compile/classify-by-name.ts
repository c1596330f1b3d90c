// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { InterfaceSpec, Place } from '../chain-spec.ts'
import type { Classification, Family } from '../types.ts'
import { compileBlockRule } from './block-reader.ts'
import type { PlaceReader } from './block-reader.ts'
import { compileChecks } from './compile-checks.ts'
import { classifiedMethod, unknownMethod } from './classified-method.ts'
import type { ClassifiedMethod } from './classified-method.ts'
import { notationOf } from './block-point.ts'
import type { PointSyntax } from './block-point.ts'
import { paramsPlace } from './params-place.ts'

/** Classifies a call by its method's name and params: JSON-RPC and Tendermint RPC. */
type ByName = (call: NamedCall, internalPath: string) => Classification

/** Its params are asked for only where a rule or a check looks at them. */
interface NamedCall {
  readonly method: string
  readonly params: unknown
}

export function compileByName(
  spec: InterfaceSpec,
  family: Family,
  words: PointSyntax['words'],
): ByName {
  // A chain may serve methods of one name under several paths: each path has its own table. The
  // empty path stands for all of them, and for a name that several have, for the first in the spec.
  const anywhere = new Map<string, ClassifiedMethod<NamedCall>>()
  const byPath = new Map<string, Map<string, ClassifiedMethod<NamedCall>>>([['', anywhere]])
  const inOrder = [...spec.methods.values()].toSorted(
    (a, b) => Number(a.internalPath !== '') - Number(b.internalPath !== ''),
  )
  for (const method of inOrder) {
    const notation = notationOf(family, spec.apiInterface, method.name)
    const block = compileBlockRule(method.block, notation, words, callPlace)
    const compiled = classifiedMethod(method, block, compileChecks(method, spec, callPlace))
    if (!anywhere.has(method.name)) anywhere.set(method.name, compiled)
    if (method.internalPath === '') continue
    const own = byPath.get(method.internalPath) ?? new Map<string, ClassifiedMethod<NamedCall>>()
    byPath.set(method.internalPath, own.set(method.name, compiled))
  }
  return (call, internalPath) =>
    (byPath.get(internalPath) ?? anywhere).get(call.method)?.classify(call) ??
    unknownMethod(call.method, subscribing.test(call.method) ? 'subscribe' : 'read')
}

/**
 * `starknet_subscribeNewHeads`, `parity_subscribe`, `Filecoin.EthUnsubscribe`: as a call over a WebSocket that many share
 * it would open what nobody hears and nobody ends.
 */
const subscribing = /[Ss]ubscribe(?![a-z])/

function callPlace(place: Place): PlaceReader<NamedCall> {
  const read = paramsPlace(place)
  return ({ params }) => read(params)
}
