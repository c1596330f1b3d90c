// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IntegrityLevel } from '../../proxy/config/types.ts'

/** A call as a node parses it. */
export interface NodeCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** The input of a wrong answer. */
interface Known {
  readonly call: NodeCall
  /** The parsed honest result. Null if it is null. */
  readonly result: unknown
  /** The honest answer as text. */
  readonly honest: string
  /** The honest result of another call; null if there is none. */
  other(call: NodeCall): unknown
}

/** Returns the wrong body; null if the kind does not apply to the call. */
type MakeWrong = (known: Known) => string | null

const reply = (call: NodeCall, result: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: call.id, result })

type Json = any
export type Path = readonly (string | number)[]
/** Changes a value. Returns undefined if it cannot. */
export type Change = (own: Json) => unknown

/** A copy with a changed value at a path; -1 is the last item. Undefined if no value is there. */
export function changedAt(value: Json, [key, ...path]: Path, change: Change): unknown {
  if (key === undefined) return value === null ? undefined : change(value)
  if (typeof value !== 'object' || value === null) return undefined
  const at = key === -1 ? value.length - 1 : key
  const inner = value[at] === undefined ? undefined : changedAt(value[at], path, change)
  if (inner === undefined) return undefined
  return Array.isArray(value) ? value.with(Number(at), inner) : { ...value, [at]: inner }
}

const nextNumber = (hex: string) => `0x${(Number(hex) + 1).toString(16)}`
const farNumber = (hex: string) => `0x${(Number(hex) + 10_000).toString(16)}`
const otherHash = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`

/** The answer about the parent block. */
function aboutParent({ call, other }: Known): string | null {
  const [block, ...more] = call.params
  if (!isNumber(String(block))) return null
  const params = [`0x${(Number(block) - 1).toString(16)}`, ...more]
  const result = other({ ...call, params })
  const isEmpty = result === null || (Array.isArray(result) && result.length === 0)
  return isEmpty ? null : reply(call, result)
}

/** Changes a value in the results of these methods, if `isAbout` accepts the first param. */
function changed(
  methods: RegExp,
  path: Path,
  change: Change,
  isAbout: (param: Json) => unknown = () => true,
): MakeWrong {
  return ({ call, result }) => {
    if (!methods.test(call.method) || !isAbout(call.params[0])) return null
    const other = changedAt(result, path, change)
    return other === undefined ? null : reply(call, other)
  }
}

const blocks = /^eth_getBlockBy/
const blockByNumber = /^eth_getBlockByNumber$/
const receipts = /^eth_getBlockReceipts$/
const transactions = /^eth_getTransactionBy/
const logs = /^eth_getLogs$/
const isNumber = (param: string) => /^0x[0-9a-f]{1,12}$/.test(param)

/** Bodies that are not a valid answer. */
const malformed = {
  /** Half a document with HTTP 200. */
  'cut-json': ({ honest }) => honest.slice(0, Math.max(1, honest.length >> 1)),
  'empty-body': () => '',
  'html-page': () => '<html><body>Welcome</body></html>',
  'two-documents': ({ honest }) => honest + honest,
  'no-result': ({ call }) => JSON.stringify({ jsonrpc: '2.0', id: call.id }),
  /** With a null result it would be a JSON-RPC 1.0 error. */
  'result-and-error': ({ call, result }) =>
    result === null
      ? null
      : JSON.stringify({ jsonrpc: '2.0', id: call.id, result, error: { code: -1, message: 'no' } }),
  'wrong-id': ({ call, result }) => reply({ ...call, id: 'another-id' }, result),
  'no-id': ({ result }) => JSON.stringify({ jsonrpc: '2.0', result }),
} as const satisfies Record<string, MakeWrong>

/** Answers to another request. */
const mismatches = {
  'wrong-block': (known) => (blockByNumber.test(known.call.method) ? aboutParent(known) : null),
  'wrong-number': changed(blockByNumber, ['number'], nextNumber, isNumber),
  'wrong-hash': changed(/^eth_getBlockByHash$/, ['hash'], otherHash),
  'wrong-transaction': changed(/^eth_getTransactionByHash$/, ['hash'], otherHash),
  'wrong-receipt': changed(/^eth_getTransactionReceipt$/, ['transactionHash'], otherHash),
  'receipts-of-parent': (known) => (receipts.test(known.call.method) ? aboutParent(known) : null),
  'receipts-mixed': changed(receipts, [-1, 'blockNumber'], nextNumber, isNumber),
  'receipts-mixed-by-hash': changed(receipts, [-1, 'blockHash'], otherHash, (block) =>
    /^0x.{64}$/.test(block),
  ),
  /** Does not apply to `latest`, whose block depends on the node. */
  'log-out-of-range': changed(logs, [-1, 'blockNumber'], farNumber, ({ toBlock }) =>
    isNumber(toBlock),
  ),
  'log-of-other-block': changed(logs, [-1, 'blockHash'], otherHash, (filter) => filter.blockHash),
  'log-of-other-address': changed(logs, [-1, 'address'], otherHash, (filter) => filter.address),
  /** The right address, but another event than that of the filter. */
  'log-of-other-event': changed(logs, [0, 'topics', 0], otherHash, (filter) => filter.topics?.[0]),
} as const satisfies Record<string, MakeWrong>

/** Changes of hashed values. */
const unproven = {
  'other-time': changed(blocks, ['timestamp'], nextNumber),
  'other-state-root': changed(blocks, ['stateRoot'], otherHash),
  'other-value': changed(transactions, ['value'], nextNumber),
  'other-receiver': changed(transactions, ['to'], otherHash),
  'transaction-with-other-value': changed(blocks, ['transactions', -1, 'value'], nextNumber),
} as const satisfies Record<string, MakeWrong>

const makers = { ...malformed, ...mismatches, ...unproven }

export type WrongKind = keyof typeof makers

const kindsOf = (of: Partial<typeof makers>) => Object.keys(of) as WrongKind[]

export const wrongKinds: readonly WrongKind[] = kindsOf(makers)

/** Wrong but well-formed answers. Each applies to some methods only. */
export const wrongContents: readonly WrongKind[] = [...kindsOf(mismatches), ...kindsOf(unproven)]

/** Wrong answers that only `full` detects. They pass if no other upstream is available. */
export const unprovenContents: readonly WrongKind[] = kindsOf(unproven)

/**
 * A wrong answer of the first kind that applies to the call.
 * @param honest the honest answer's text
 * @param answer returns the honest answer to another call
 * @returns null if no kind applies
 */
export function wrongAnswerTo(
  kinds: readonly WrongKind[],
  call: NodeCall,
  honest: string,
  answer: (call: NodeCall) => string,
): { readonly kind: WrongKind; readonly body: string } | null {
  const resultOf = (text: string) => (JSON.parse(text) as { result?: unknown }).result
  const result = resultOf(honest)
  if (result === undefined) return null
  const other = (about: NodeCall) => resultOf(answer(about)) ?? null
  for (const kind of kinds) {
    const make: MakeWrong = makers[kind]
    const body = make({ call, result, honest, other })
    if (body !== null && body !== honest) return { kind, body }
  }
  return null
}

const enveloped = new Set(kindsOf(malformed))
const checked = new Set([...enveloped, ...kindsOf(mismatches)])

/** Wrong answers by the check level that replaces them if another upstream has a better one. */
export const coveredAt: Readonly<Record<IntegrityLevel, ReadonlySet<WrongKind>>> = {
  off: new Set(),
  envelope: enveloped,
  core: checked,
  full: checked,
}
