// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { durationMs } from '../native/schema.ts'
import type { NativeInterface, NativeMethod } from '../native/schema.ts'
import type { Check } from '../checks.ts'
import type { BlockRef, BlockTag, CallKind, Classification, ResultPath } from '../types.ts'
import { tagPoints } from './block-point.ts'
import { compileBlock, invalidBlock, noBlock } from './block.ts'
import type { BlockSyntax } from './block.ts'
import { compileChecks } from './compile-checks.ts'

/** A method of an interface, and by what it is known. */
export interface NamedMethod {
  /** Without the verb and without the path below the URL. */
  readonly name: string
  /** REST: upper case; empty for the other interfaces. */
  readonly verb: string
  readonly addon: string | null
  readonly method: NativeMethod
}

/** Tells what the spec says of one request to a method. */
export type Classify<Request> = (request: Request) => Classification

/**
 * A method with its classifications made ahead: only a call that names a height, a hash or a range,
 * or whose checks want something of its own, needs one of its own.
 */
export function compileMethod<Request>(
  { name, addon, method }: NamedMethod,
  spec: NativeInterface,
  syntax: BlockSyntax<Request>,
): Classify<Request> {
  const kind = method.kind ?? 'read'
  const isCacheable = method.cacheable ?? kind === 'read'
  const tip = tellsTip(method, kind === 'read' ? spec['tip-header'] : undefined)
  const checks = compileChecks(method, syntax.placeReader)
  const behindTip: Partial<Record<BlockTag, number>> = spec['behind-tip'] ?? {}
  const about = (block: BlockRef): Classification => {
    const behind = block.kind === 'tag' ? (behindTip[block.tag] ?? null) : null
    const isTip = block.kind === 'tag' && (block.tag === 'latest' || behind !== null)
    return {
      method: name,
      known: true,
      kind,
      stateful: method.stateful ?? null,
      block,
      addon,
      cost: method.cost ?? 10,
      cacheable: isCacheable && block.kind !== 'invalid',
      deterministic: method.deterministic ?? kind === 'read',
      byHash: method['by-hash'] ?? false,
      waitsForBlock: method['waits-for-block'] ?? false,
      timeoutMs: method.timeout === undefined ? null : durationMs(method.timeout),
      // Only what was asked about the latest block tells which one that is.
      tellsTip: isTip ? tip : null,
      behindTip: behind,
      checks: typeof checks === 'function' ? none : checks,
      answersJson: method.answer !== 'any',
      refusal: method.refusal ?? null,
      internalPath: method['internal-path'] ?? '',
    }
  }
  const classify = madeAhead(compileBlock(method.block, syntax), about)
  return typeof checks === 'function'
    ? (request) => ({ ...classify(request), checks: checks(request) })
    : classify
}

const none: readonly Check[] = Object.freeze([])

function madeAhead<Request>(
  block: BlockRef | ((request: Request) => BlockRef),
  about: (block: BlockRef) => Classification,
): Classify<Request> {
  if (typeof block !== 'function') {
    const only = Object.freeze(about(block))
    return () => only
  }
  const fixed: ReadonlyMap<BlockRef, Classification> = new Map(
    [noBlock, invalidBlock, ...Object.values(tagPoints)].map((ref) => [
      ref,
      Object.freeze(about(ref)),
    ]),
  )
  return (request) => {
    const ref = block(request)
    return fixed.get(ref) ?? about(ref)
  }
}

/** Where the answer tells the tip, if not in its own place then in the header that all have. */
function tellsTip(
  { 'tells-tip': own = {} }: NativeMethod,
  tipHeader: string | undefined,
): ResultPath | null {
  const { path, header = tipHeader, encoding = 'decimal', items } = own
  if (path !== undefined) return { path, encoding, ...(items && { items }) }
  return header === undefined ? null : { path: [], encoding, header }
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
    checks: none,
    answersJson: false,
    refusal: null,
    internalPath,
  }
}
