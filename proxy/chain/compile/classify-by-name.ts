// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { InterfaceSpec } from '../chain-spec.ts'
import type { Classification, Family } from '../types.ts'
import { compileBlockRule } from './block-reader.ts'
import { compileChecks } from './compile-checks.ts'
import { classifiedMethod, unknownMethod } from './classified-method.ts'
import type { ClassifiedMethod } from './classified-method.ts'
import { notationOf } from './block-point.ts'
import type { PointSyntax } from './block-point.ts'
import { paramsPlace } from './params-place.ts'

/** Classifies a call by its method's name and params: JSON-RPC and Tendermint RPC. */
type ByName = (method: string, params: unknown, internalPath: string) => Classification

export function compileByName(
  spec: InterfaceSpec,
  family: Family,
  words: PointSyntax['words'],
): ByName {
  // A chain may serve methods of one name under several paths: each path has its own table. The
  // empty path stands for all of them, and for a name that several have, for the first in the spec.
  const anywhere = new Map<string, ClassifiedMethod<unknown>>()
  const byPath = new Map<string, Map<string, ClassifiedMethod<unknown>>>([['', anywhere]])
  const inOrder = [...spec.methods.values()].toSorted(
    (a, b) => Number(a.internalPath !== '') - Number(b.internalPath !== ''),
  )
  for (const method of inOrder) {
    const notation = notationOf(family, spec.apiInterface, method.name)
    const block = compileBlockRule(method.block, notation, words, paramsPlace)
    const compiled = classifiedMethod(method, block, compileChecks(method, spec, paramsPlace))
    if (!anywhere.has(method.name)) anywhere.set(method.name, compiled)
    if (method.internalPath === '') continue
    const own = byPath.get(method.internalPath) ?? new Map<string, ClassifiedMethod<unknown>>()
    byPath.set(method.internalPath, own.set(method.name, compiled))
  }
  return (method, params, internalPath) =>
    (byPath.get(internalPath) ?? anywhere).get(method)?.classify(params) ??
    unknownMethod(method, 'read')
}
