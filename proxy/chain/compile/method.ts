// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { matcher } from '../failures/compile-failures.ts'
import { durationMs, type NativeInterface, type NativeMethod } from '../native/schema.ts'
import type {
  BlockRef,
  BlockTag,
  CallKind,
  Check,
  MethodSpec,
  Question,
  ResultPath,
} from '../types.ts'
import { blockPlaces, type BlockSyntax, compileBlock, noBlock, tagPoints } from './block.ts'

/** A method of an interface, and its name. */
export interface NamedMethod {
  /** Excludes the verb and the internal path. */
  readonly name: string
  /** REST: upper case; empty for other interfaces. */
  readonly verb: string
  readonly addon: string | null
  readonly method: NativeMethod
}

/**
 * Classifies one request to a method.
 * @param segments path segments of a REST call; empty for other calls
 */
export type Classify = (question: Question, segments: readonly string[]) => MethodSpec

/**
 * Compiles a method that reuses its classifications. A call gets a new one only if it names a
 * height, a hash or a range, or if a check compares with a value of the request.
 */
export function compileMethod(
  { name, addon, method }: NamedMethod,
  spec: NativeInterface,
  syntax: BlockSyntax,
): Classify {
  const kind = method.kind ?? 'read'
  const tip = tellsTip(method, kind === 'read' ? spec['tip-header'] : undefined)
  const shown = showsBlock(method)
  const isUnnamed = method['shows-block'] === 'unnamed'
  const { data = 'state' } = method
  const cacheable = method.cacheable ?? kind === 'read'
  const anyCaseHex = method['any-case-hex'] ?? syntax.notation === 'ethereum'
  const always = {
    name,
    known: true,
    kind,
    operatorOnly: matcher(spec['operator-only'] ?? [])(name),
    stateful: method.stateful ?? null,
    data: kind === 'read' && data !== 'none' ? data : null,
    addon,
    cost: method.cost ?? 10,
    untilWrite: method['until-write'] ?? false,
    deterministic: method.deterministic ?? kind === 'read',
    byHash: method['by-hash'] ?? false,
    anyCaseHex: typeof anyCaseHex === 'boolean' ? anyCaseHex : new Set(anyCaseHex),
    waitsForBlock: method['waits-for-block'] ?? false,
    runsCallerCode: method['runs-caller-code'] ?? false,
    timeoutMs: method.timeout === undefined ? null : durationMs(method.timeout),
    answersJson: method.answer !== 'any',
    refusal: method.refusal ?? null,
    tipHeader: spec['tip-header'],
    internalPath: method['internal-path'] ?? '',
    blockPlaces: blockPlaces(
      method.block,
      // An answer about the tip itself is about no other block.
      method['tells-tip'] ? [] : spec['block-headers'],
      syntax,
    ),
    defaultTag: defaultTag(method.block),
  }
  const about = (block: BlockRef, checks: readonly Check[], floor: unknown): MethodSpec => {
    return {
      ...always,
      block,
      floor: isHeight(floor) ? { block: floor, shown: tip } : undefined,
      cacheable: cacheable && block.kind !== 'invalid',
      // Only an answer about the latest block shows its number.
      tellsTip: block === tagPoints.latest ? tip : null,
      showsBlock: shown ?? (showsAsTip(block) ? tip : null),
      impliesBlock: block.kind === 'number' || isByHash(block),
      showsUnnamed: isUnnamed && (block.kind === 'tag' || block.kind === 'none'),
      checks,
    }
  }
  // A header with the head accompanies every answer, so it does not show this answer's block.
  const showsAsTip = (block: BlockRef) =>
    tip?.header === undefined && ['number', 'hash', 'tag'].includes(block.kind)
  const isByHash = (block: BlockRef) =>
    block.kind === 'hash' ||
    (block.kind === 'none' && (always.byHash || always.stateful === 'uses'))
  const place = method['min-block']
  const readFloor = place && syntax.placeReader(place)
  const block = compileBlock(method.block, spec['block-headers'], syntax)
  const checks = compileChecks(method, syntax)
  if (typeof checks === 'function')
    return (question, segments) =>
      about(block(question, segments), checks(question, segments), readFloor?.(question, segments))
  const cache = new Map<BlockRef, MethodSpec>()
  return (question, segments) => {
    const ref = block(question, segments)
    const floor = readFloor?.(question, segments)
    if (isHeight(floor)) return about(ref, checks, floor)
    const known = cache.get(ref)
    if (known !== undefined) return known
    const classification = about(ref, checks, null)
    // All calls share one object per such ref.
    if (ref.kind === 'none' || ref.kind === 'tag' || ref.kind === 'invalid')
      cache.set(ref, Object.freeze(classification))
    return classification
  }
}

function isHeight(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

const none: readonly Check[] = Object.freeze([])

/** The checks of an answer, as a list when they are the same for all requests of the method. */
function compileChecks(
  { checks: rules = [] }: NativeMethod,
  { placeReader }: BlockSyntax,
): readonly Check[] | ((...request: Parameters<Classify>) => readonly Check[]) {
  const rows = rules.map((rule) => {
    const isPlaced = rule.check === 'identity' || rule.check === 'logs' || rule.check === 'sent'
    return { rule, read: isPlaced ? placeReader(rule) : null }
  })
  if (rows.every(({ read }) => read === null))
    return Object.freeze(rows.map(({ rule }) => ({ rule, wanted: null })))
  // Runs only when the answer arrives: until then a filter stays as compact as it was sent.
  return (question, segments) =>
    rows.map(({ rule, read }) => ({ rule, wanted: read && (() => read(question, segments)) }))
}

/** Where the answer shows the tip: at the method's place, else in the interface's header. */
function tellsTip(method: NativeMethod, tipHeader: string | undefined): ResultPath | null {
  const { path, header = tipHeader, encoding = 'decimal', hash } = method['tells-tip'] ?? {}
  if (path !== undefined)
    return { path, encoding, ...shownHashes(method, path), ...(hash && { hash }) }
  return header === undefined ? null : { path: [], encoding, header }
}

function showsBlock(method: NativeMethod): ResultPath | null {
  const own = method['shows-block']
  if (own === undefined || own === 'unnamed') return null
  const { path = own.hash ?? [], encoding = 'decimal', ...others } = own
  return { path, encoding, ...shownHashes(method, path), ...others }
}

/** Paths of the hash and the parent beside a block's number, taken from the checks. */
function shownHashes(
  { checks = [] }: NativeMethod,
  path: ResultPath['path'],
): Pick<ResultPath, 'hash' | 'parent'> {
  const parent = checks.find((rule) => rule.check === 'parent')
  if (parent) return { hash: parent.hash, parent: parent.parent }
  const block = checks.find((rule) => rule.check === 'block')
  if (!block?.number || !block.hash || block.older) return {}
  return { hash: [...path.slice(0, -block.number.length), ...block.hash] }
}

function defaultTag(block: NativeMethod['block']): BlockTag | null {
  if (typeof block === 'string' || block.param === undefined || block.field !== undefined)
    return null
  return block.default === undefined || block.default === 'none' ? null : block.default
}

/** Marks a call that nodes may read differently, so its answer is not shared or checked. */
export function ambiguous(method: MethodSpec): MethodSpec {
  const { showsBlock: _, impliesBlock: __, ...others } = method
  return { ...others, cacheable: false, checks: none, tellsTip: null }
}

/** Classification of a method that the spec does not name. */
export function unknownMethod(name: string, kind: CallKind, internalPath = ''): MethodSpec {
  return {
    name,
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
    // An unknown method may run code.
    runsCallerCode: true,
    timeoutMs: null,
    tellsTip: null,
    checks: none,
    answersJson: false,
    refusal: null,
    internalPath,
  }
}
