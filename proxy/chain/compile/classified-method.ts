// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { MethodSpec } from '../chain-spec.ts'
import type { Check } from '../check-rule.ts'
import type { BlockRef, BlockTag, CallKind, Classification } from '../types.ts'
import { invalidBlock, noBlock } from './block-reader.ts'
import type { BlockReader } from './block-reader.ts'
import { tagPoints } from './block-point.ts'
import type { Checks } from './compile-checks.ts'

/**
 * A method with its classifications made ahead: only a call that names a height, a hash or a range,
 * or whose checks want something of its own, needs one of its own.
 */
export interface ClassifiedMethod<Request> {
  classify(request: Request): Classification
}

export function classifiedMethod<Request>(
  method: MethodSpec,
  block: BlockRef | BlockReader<Request>,
  checks: Checks<Request>,
): ClassifiedMethod<Request> {
  if (typeof checks === 'function') {
    const plain = classifiedMethod(method, block, [])
    return { classify: (request) => ({ ...plain.classify(request), checks: checks(request) }) }
  }
  if (typeof block !== 'function') {
    const only = Object.freeze(withBlock(method, block, checks))
    return { classify: () => only }
  }
  const none = Object.freeze(withBlock(method, noBlock, checks))
  const invalid = Object.freeze(withBlock(method, invalidBlock, checks))
  const byTag = Object.fromEntries(
    Object.entries(tagPoints).map(([tag, point]) => [
      tag,
      Object.freeze(withBlock(method, point, checks)),
    ]),
  ) as Record<BlockTag, Classification>
  return {
    classify(request) {
      const ref = block(request)
      if (ref.kind === 'tag') return byTag[ref.tag]
      if (ref.kind === 'none') return none
      if (ref.kind === 'invalid') return invalid
      return withBlock(method, ref, checks)
    },
  }
}

function withBlock(method: MethodSpec, block: BlockRef, checks: readonly Check[]): Classification {
  return {
    method: method.name,
    known: true,
    kind: method.kind,
    stateful: method.stateful,
    block,
    addon: method.addon,
    cost: method.cost,
    cacheable: method.cacheable && block.kind !== 'invalid',
    deterministic: method.deterministic,
    byHash: method.byHash,
    waitsForBlock: method.waitsForBlock,
    timeoutMs: method.timeoutMs,
    ...tipTold(method, block),
    checks,
    answersJson: method.answersJson,
    refusal: method.refusal,
    internalPath: method.internalPath,
  }
}

/** Only what was asked about the latest block tells which one that is. */
function tipTold(
  { tellsTip, behindTip }: MethodSpec,
  block: BlockRef,
): Pick<Classification, 'tellsTip' | 'behindTip'> {
  if (block.kind !== 'tag') return { tellsTip: null, behindTip: null }
  if (block.tag === 'latest') return { tellsTip, behindTip: null }
  const behind = behindTip[block.tag]
  return behind === undefined
    ? { tellsTip: null, behindTip: null }
    : { tellsTip, behindTip: behind }
}

/** What is said of a method that the spec does not name. */
export function unknownMethod(method: string, kind: CallKind, internalPath = ''): Classification {
  return {
    method,
    known: false,
    kind,
    stateful: null,
    block: noBlock,
    addon: null,
    cost: 10,
    cacheable: false,
    deterministic: false,
    byHash: false,
    waitsForBlock: false,
    timeoutMs: null,
    tellsTip: null,
    behindTip: null,
    checks: [],
    answersJson: false,
    refusal: null,
    internalPath,
  }
}
