// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { matcher } from '../method-patterns.ts'
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
  /** The name without verb and internal path. */
  readonly name: string
  /** The HTTP verb in upper case on REST; empty on other interfaces. */
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
 * Compiles a method so that its calls share classifications. A call needs its own only if it names
 * a height, a hash or a range, or if a check compares against a value of the request.
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
  const always = {
    name,
    known: true,
    kind,
    operatorOnly: matcher(spec['operator-only'] ?? [])(name),
    stateful: method.stateful ?? null,
    split: kind === 'read' ? (method.split ?? null) : null,
    data: kind === 'read' && data !== 'none' ? data : null,
    addon,
    cost: method.cost ?? 10,
    untilWrite: method['until-write'] ?? false,
    deterministic: method.deterministic ?? kind === 'read',
    byHash: method['by-hash'] ?? false,
    anyCaseHex: method['any-case-hex'] ?? syntax.notation === 'ethereum',
    waitsForBlock: method['waits-for-block'] ?? false,
    runsCallerCode: method['runs-caller-code'] ?? false,
    timeoutMs: method.timeout === undefined ? null : durationMs(method.timeout),
    answersJson: method.answer !== 'any',
    refusal: method.refusal ?? null,
    tipHeader: spec['tip-header'],
    internalPath: method['internal-path'] ?? '',
    blockPlaces: blockPlaces(
      method.block,
      // An answer about the tip itself concerns no other block.
      method['tells-tip'] ? [] : spec['block-headers'],
      syntax,
    ),
    defaultTag: defaultTag(method.block),
  }
  const about = (
    block: BlockRef,
    checks: readonly Check[],
    floor: unknown,
    waitMs: number | null,
  ): MethodSpec => {
    return {
      ...always,
      block,
      waitMs,
      waitsForBlock: always.waitsForBlock || waitMs !== null,
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
  // Every answer carries the head in a header, so that header does not show this answer's block.
  const showsAsTip = (block: BlockRef) =>
    tip?.header === undefined && ['number', 'hash', 'tag'].includes(block.kind)
  const isByHash = (block: BlockRef) =>
    block.kind === 'hash' ||
    (block.kind === 'none' && (always.byHash || always.stateful === 'uses'))
  const place = method['min-block']
  const readFloor = place && syntax.placeReader(place)
  const readWait = method.wait && syntax.placeReader(method.wait)
  const waitOf: (...request: Parameters<Classify>) => number | null = readWait
    ? (question, segments) => waitMsOf(readWait(question, segments))
    : () => null
  const block = compileBlock(method.block, spec['block-headers'], syntax)
  const checks = compileChecks(method, syntax)
  if (typeof checks === 'function')
    return (question, segments) =>
      about(
        block(question, segments),
        checks(question, segments),
        readFloor?.(question, segments),
        waitOf(question, segments),
      )
  const cache = new Map<BlockRef, MethodSpec>()
  return (question, segments) => {
    const ref = block(question, segments)
    const floor = readFloor?.(question, segments)
    const waitMs = waitOf(question, segments)
    if (isHeight(floor) || waitMs !== null) return about(ref, checks, floor, waitMs)
    const known = cache.get(ref)
    if (known !== undefined) return known
    const classification = about(ref, checks, null, null)
    // All calls with such a ref share one object.
    if (ref.kind === 'none' || ref.kind === 'tag' || ref.kind === 'invalid')
      cache.set(ref, Object.freeze(classification))
    return classification
  }
}

function isHeight(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** No client waits for longer. */
const endlessMs = 86_400_000

/** @param value milliseconds as a number, in decimal or hex; 0 or a word: without end */
function waitMsOf(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null
  const ms = Number(value)
  return ms > 0 ? Math.min(ms, endlessMs) : endlessMs
}

const none: readonly Check[] = Object.freeze([])

/** Compiles the checks of an answer: a list if they are the same for all of its requests. */
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
  // Runs when the answer arrives, so a filter stays in its compact wire form until then.
  return (question, segments) =>
    rows.map(({ rule, read }) => ({ rule, wanted: read && (() => read(question, segments)) }))
}

/** Where an answer shows the tip: in the method's result, or in a header of the interface. */
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

/** Paths of the hash and the parent next to a block's number, as the checks give them. */
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

/** Marks a call that nodes may interpret differently. Its answer is neither shared nor checked. */
export function ambiguous(method: MethodSpec): MethodSpec {
  const { showsBlock: _, impliesBlock: __, ...others } = method
  return { ...others, cacheable: false, checks: none, tellsTip: null }
}

/** Classification of a method that is not in the spec. */
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
