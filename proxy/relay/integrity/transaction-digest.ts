// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { keccak256 } from '../../integrity/keccak256.ts'
import { ItemCursor } from './item-cursor.ts'
import { valueEnd } from '../../json/value.ts'
import { ResultDocument } from './result-document.ts'
import { RlpList } from './rlp-list.ts'
import { digitsAt, isNull, numberAt } from './values.ts'

type Kind = 'quantity' | 'data' | 'receiver' | 'parity' | 'accesses' | 'hashes' | 'authorizations'
type Member = readonly [name: string, kind: Kind]

const body: readonly Member[] = [
  ['gas', 'quantity'],
  ['to', 'receiver'],
  ['value', 'quantity'],
  ['input', 'data'],
]
const fees: readonly Member[] = [
  ['chainId', 'quantity'],
  ['nonce', 'quantity'],
  ['maxPriorityFeePerGas', 'quantity'],
  ['maxFeePerGas', 'quantity'],
]
const price: readonly Member[] = [
  ['nonce', 'quantity'],
  ['gasPrice', 'quantity'],
]
const accesses: Member = ['accessList', 'accesses']
const point: readonly Member[] = [
  ['r', 'quantity'],
  ['s', 'quantity'],
]
const signature: readonly Member[] = [['yParity', 'parity'], ...point]

/** What each type is made of (EIP-2718), in the order in which it is hashed. */
const types: ReadonlyMap<number, readonly Member[]> = new Map([
  // Before EIP-2718, with or without EIP-155.
  [0, [...price, ...body, ['v', 'quantity'], ...point]],
  // EIP-2930
  [1, [['chainId', 'quantity'], ...price, ...body, accesses, ...signature]],
  // EIP-1559
  [2, [...fees, ...body, accesses, ...signature]],
  // EIP-4844
  [
    3,
    [
      ...[...fees, ...body, accesses],
      ['maxFeePerBlobGas', 'quantity'],
      ['blobVersionedHashes', 'hashes'],
      ...signature,
    ],
  ],
  // EIP-7702
  [4, [...fees, ...body, accesses, ['authorizationList', 'authorizations'], ...signature]],
])

/** Of one authorization, EIP-7702. */
const authorization: readonly Member[] = [
  ['chainId', 'quantity'],
  ['address', 'data'],
  ['nonce', 'quantity'],
  ...signature,
]

/** About as much as a transaction takes. */
const usualBytes = 384

export interface TransactionDigest {
  readonly form: string
  /** As 64 digits; null when a member is missing that every such transaction has. */
  readonly digest: string | null
}

/** What transactions of every type have, and what of it says the most. */
const ofAnyType: readonly string[] = ['from', 'to', 'value', 'input', 'nonce', 'gas']

/**
 * The hash of a transaction as Ethereum's JSON-RPC shows it. The sender is not in it: it follows
 * from the signature, which would cost a hundred times as much. What is of an unknown type has a
 * digest by which several can be compared, and which is not its hash.
 */
export function transactionDigest(document: ResultDocument): TransactionDigest {
  const type = typeOf(document)
  const members = types.get(type)
  if (members === undefined) return { form: `type ${type}`, digest: digestOfAnyType(document) }
  const list = new RlpList(usualBytes)
  // What nobody signed, such as anvil's in the name of others, is hashed as the node likes.
  const isSigned = point.some(([name]) => digitsOf(document, name)?.search(/[^0]/) !== -1)
  const form = `type ${type}${isSigned ? '' : ' unsigned'}`
  if (!members.every((member) => add(list, document, member))) return { form, digest: null }
  return { form, digest: keccak256(list.encoded(type)).toString('hex') }
}

/**
 * `v` contradicts `yParity`. Of typed transactions it is the same; some nodes write it as older ones
 * have it: 27 or 28, or from 35 on with the chain (EIP-155).
 */
export function hasTwoParities(document: ResultDocument): boolean {
  const [v, parity] = [numberOf(document, 'v'), numberOf(document, 'yParity')]
  if (!types.has(typeOf(document)) || Number.isNaN(v) || Number.isNaN(parity)) return false
  return (v < 27 ? v : (v - 27) % 2) !== parity
}

/** `v` tells another chain than `chainId`. Below 35 it tells none. */
export function hasTwoChains(document: ResultDocument): boolean {
  const [v, chain] = [numberOf(document, 'v'), numberOf(document, 'chainId')]
  if (!types.has(typeOf(document)) || Number.isNaN(chain)) return false
  return v >= 35 && Math.floor((v - 35) / 2) !== chain
}

function numberOf(document: ResultDocument, name: string): number {
  const span = document.at([name])
  return span === null ? NaN : numberAt(document.bytes, span.start, span.end)
}

/** However a node writes letters and zeros. */
function digestOfAnyType(document: ResultDocument): string {
  const texts = ofAnyType.map((name) => {
    const digits = digitsOf(document, name)?.toLowerCase() ?? ''
    return `${name} ${name === 'input' ? digits : digits.replace(/^0+/, '')}`
  })
  return keccak256(Buffer.from(texts.join(' '))).toString('hex')
}

/** Nodes from before EIP-2718 tell none. NaN for what is none. */
function typeOf(document: ResultDocument): number {
  const span = document.at(['type'])
  if (span === null || isNull(document.bytes, span.start)) return 0
  return numberAt(document.bytes, span.start, span.end)
}

function digitsOf(document: ResultDocument, name: string): string | null {
  const span = document.at([name])
  return span && digitsAt(document.bytes, span.start, span.end)
}

/** @returns false when the member is not what it should be */
function add(list: RlpList, document: ResultDocument, [name, kind]: Member): boolean {
  const { bytes } = document
  const span = document.at([name])
  // Some nodes tell the parity as `v` only.
  if (span === null) return kind === 'parity' && add(list, document, ['v', 'quantity'])
  switch (kind) {
    case 'quantity':
    case 'parity': {
      const digits = digitsAt(bytes, span.start, span.end)
      return digits !== null && digits.length > 0 && list.addQuantity(digits)
    }
    case 'data': {
      const digits = digitsAt(bytes, span.start, span.end)
      return digits !== null && list.addData(digits)
    }
    case 'receiver': {
      const digits = isNull(bytes, span.start) ? '' : digitsAt(bytes, span.start, span.end)
      return digits !== null && list.addData(digits)
    }
    case 'hashes':
      return addItems(list, bytes, span.start, (inner, item) => addText(inner, item))
    case 'accesses':
      return addItems(list, bytes, span.start, addAccess)
    case 'authorizations':
      return addItems(list, bytes, span.start, (inner, item) => {
        const own = new RlpList(usualBytes)
        if (!authorization.every((member) => add(own, item, member))) return false
        inner.addList(own)
        return true
      })
  }
}

function addAccess(list: RlpList, item: ResultDocument): boolean {
  const own = new RlpList(usualBytes)
  const keys = item.at(['storageKeys'])
  if (keys === null || !add(own, item, ['address', 'data'])) return false
  if (!addItems(own, item.bytes, keys.start, (inner, key) => addText(inner, key))) return false
  list.addList(own)
  return true
}

function addText(list: RlpList, { bytes, span }: ResultDocument): boolean {
  const digits = digitsAt(bytes, span.start, span.end)
  return digits !== null && list.addData(digits)
}

type AddItem = (list: RlpList, item: ResultDocument) => boolean

function addItems(list: RlpList, bytes: Uint8Array, start: number, addItem: AddItem): boolean {
  if (bytes[start] !== 0x5b) return false
  const inner = new RlpList(usualBytes)
  const cursor = new ItemCursor(bytes, start)
  while (cursor.next()) {
    const end = valueEnd(bytes, cursor.start)
    if (!addItem(inner, new ResultDocument(bytes, { start: cursor.start, end }))) return false
    cursor.ended(end)
  }
  list.addList(inner)
  return true
}
