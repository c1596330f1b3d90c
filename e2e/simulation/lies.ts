// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IntegrityLevel } from '../../proxy/config/types.ts'

/** A call as a node reads it. */
export interface LiedAbout {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a liar has at hand. */
interface Lying {
  readonly call: LiedAbout
  /** The honest result, parsed anew. Null when the honest answer is an error. */
  readonly result: unknown
  /** The honest answer as text. */
  readonly honest: string
  /** The honest result of the same method about something else; null when there is none. */
  other(call: LiedAbout): unknown
}

/** The body that is sent; null where there is nothing to lie about, and the honest answer goes out. */
type Lie = (lying: Lying) => string | null

const reply = (call: LiedAbout, result: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: call.id, result })

type Json = any
export type Path = readonly (string | number)[]
/** Makes another value of one; undefined: it has none. */
export type Change = (own: Json) => unknown

/** A copy with another value at a path, of which -1 is the last of a list; undefined where there is none. */
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

/** Asks about the block before instead. */
function aboutTheBlockBefore({ call, other }: Lying): string | null {
  const [block, ...more] = call.params
  if (!isNumber(String(block))) return null
  const params = [`0x${(Number(block) - 1).toString(16)}`, ...more]
  const result = other({ ...call, params })
  const isEmpty = result === null || (Array.isArray(result) && result.length === 0)
  return isEmpty ? null : reply(call, result)
}

/** Another value in the results of these methods, where `isAbout` their first param. */
function changed(
  methods: RegExp,
  path: Path,
  change: Change,
  isAbout: (param: Json) => unknown = () => true,
): Lie {
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

/** Not an answer in form. */
const malformed = {
  /** HTTP 200 and half a document. */
  'cut-json': ({ honest }) => honest.slice(0, Math.max(1, honest.length >> 1)),
  'empty-body': () => '',
  'html-page': () => '<html><body>Welcome</body></html>',
  'two-documents': ({ honest }) => honest + honest,
  'no-result': ({ call }) => JSON.stringify({ jsonrpc: '2.0', id: call.id }),
  /** With a result of null it would be an error in the old form, and no lie. */
  'result-and-error': ({ call, result }) =>
    result === null
      ? null
      : JSON.stringify({ jsonrpc: '2.0', id: call.id, result, error: { code: -1, message: 'no' } }),
  'wrong-id': ({ call, result }) => reply({ ...call, id: 'somebody-else' }, result),
  'no-id': ({ result }) => JSON.stringify({ jsonrpc: '2.0', result }),
} as const satisfies Record<string, Lie>

/** About something else than what was asked for. */
const ofOtherThings = {
  'wrong-block': (lying) =>
    blockByNumber.test(lying.call.method) ? aboutTheBlockBefore(lying) : null,
  'wrong-number': changed(blockByNumber, ['number'], nextNumber, isNumber),
  'wrong-hash': changed(/^eth_getBlockByHash$/, ['hash'], otherHash),
  'wrong-transaction': changed(/^eth_getTransactionByHash$/, ['hash'], otherHash),
  'wrong-receipt': changed(/^eth_getTransactionReceipt$/, ['transactionHash'], otherHash),
  'receipts-of-parent': (lying) =>
    receipts.test(lying.call.method) ? aboutTheBlockBefore(lying) : null,
  'receipts-mixed': changed(receipts, [-1, 'blockNumber'], nextNumber, isNumber),
  'receipts-mixed-by-hash': changed(receipts, [-1, 'blockHash'], otherHash, (block) =>
    /^0x.{64}$/.test(block),
  ),
  /** What `latest` stands for is the node's to say. */
  'log-out-of-range': changed(logs, [-1, 'blockNumber'], farNumber, ({ toBlock }) =>
    isNumber(toBlock),
  ),
  'log-of-other-block': changed(logs, [-1, 'blockHash'], otherHash, (filter) => filter.blockHash),
  'log-of-other-address': changed(logs, [-1, 'address'], otherHash, (filter) => filter.address),
  /** The right address, and another event than the filter names. */
  'log-of-other-event': changed(logs, [0, 'topics', 0], otherHash, (filter) => filter.topics?.[0]),
} as const satisfies Record<string, Lie>

/** Of what a hash is made from. */
const unproven = {
  'other-time': changed(blocks, ['timestamp'], nextNumber),
  'other-state-root': changed(blocks, ['stateRoot'], otherHash),
  'other-value': changed(transactions, ['value'], nextNumber),
  'other-receiver': changed(transactions, ['to'], otherHash),
  'transaction-with-other-value': changed(blocks, ['transactions', -1, 'value'], nextNumber),
} as const satisfies Record<string, Lie>

/** Every way in which a node may say what is not true. */
const lies = { ...malformed, ...ofOtherThings, ...unproven }

export type LieKind = keyof typeof lies

const kindsOf = (of: Partial<typeof lies>) => Object.keys(of) as LieKind[]

export const lieKinds: readonly LieKind[] = kindsOf(lies)

/** Lies in the form of an honest answer, each about some methods only. */
export const contentLies: readonly LieKind[] = [...kindsOf(ofOtherThings), ...kindsOf(unproven)]

/** Lies that only `full` sees, and that are passed on when no other upstream can be asked. */
export const unprovenLies: readonly LieKind[] = kindsOf(unproven)

/**
 * Of the kinds, the first that has something to say about a call.
 * @param honest the honest answer's text
 * @param answer gives the honest answer to another call
 * @returns null when the node has to be honest about such a call
 */
export function lieAbout(
  kinds: readonly LieKind[],
  call: LiedAbout,
  honest: string,
  answer: (call: LiedAbout) => string,
): { readonly kind: LieKind; readonly body: string } | null {
  const resultOf = (text: string) => (JSON.parse(text) as { result?: unknown }).result
  const result = resultOf(honest)
  if (result === undefined) return null
  const other = (about: LiedAbout) => resultOf(answer(about)) ?? null
  for (const kind of kinds) {
    const lie: Lie = lies[kind]
    const body = lie({ call, result, honest, other })
    if (body !== null && body !== honest) return { kind, body }
  }
  return null
}

const enveloped = new Set(kindsOf(malformed))
const checked = new Set([...enveloped, ...kindsOf(ofOtherThings)])

/** Lies that are no answer while another upstream has a better one, at each level of checks. */
export const coveredAt: Readonly<Record<IntegrityLevel, ReadonlySet<LieKind>>> = {
  off: new Set(),
  envelope: enveloped,
  core: checked,
  full: checked,
}
