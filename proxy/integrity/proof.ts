// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../chain/native/schema.ts'
import { keccak256 } from './keccak256.ts'
import { valueAt } from '../json/value-at.ts'
import { shown, toHash, toNumber } from '../json/values.ts'
import type { CheckName, Violation } from './violation.ts'

type ProofRule = Extract<CheckRule, { check: 'proof' }>
type Fields = Readonly<Record<string, unknown>>

/** Limit for a block with full transactions, each of which takes about 50 us. */
const maxTransactions = 16

/** The preimage of a hash, and the form of its block or transaction. */
interface Hashed {
  readonly form: string
  /** Bytes in hex. */
  readonly preimage: string
}

/**
 * Recomputes hashes of Ethereum blocks and transactions from their fields. Chains may differ, so a
 * form that mismatches in the same way at two upstreams is no longer compared.
 */
export class Proofs {
  /** Bounded: forms consist of type and member names of known forks, not of text from nodes. */
  readonly #unprovable = new Set<string>()

  check({ form, each }: ProofRule, result: unknown): Violation | null {
    if (form === 'ethereum-header') return this.#compare('header-hash', result, headerOf)
    if (each === undefined) return this.#compare('transaction-hash', result, transactionOf)
    const list = valueAt(result, [each])
    if (!Array.isArray(list)) return null
    for (const item of list.slice(0, maxTransactions)) {
      const found = this.#compare('transaction-hash', item, transactionOf)
      if (found) return found
    }
    return null
  }

  /** Disables the check for a form that two upstreams show alike. */
  disable(form: string): void {
    this.#unprovable.add(form)
  }

  #compare(
    check: CheckName,
    value: unknown,
    hashedIn: (fields: Fields) => Hashed | null,
  ): Violation | null {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    const own = (value as Fields)['hash']
    const hashed = toHash(own) ? hashedIn(value as Fields) : null
    if (hashed === null || this.#unprovable.has(hashed.form)) return null
    const digest = keccak256(Buffer.from(hashed.preimage, 'hex')).toString('hex')
    if (toHash(`0x${digest}`) === toHash(own)) return null
    return { check, detail: `${shown(own)} does not match its fields`, form: hashed.form }
  }
}

/** Members of every header, in hash order (yellow paper, section 4.3). */
const header = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot'],
  ...['logsBloom', 'difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData'],
  ...['mixHash', 'nonce'],
] as const
/** Members that forks appended, in order: London, Shanghai, Cancun, Prague, Amsterdam. */
const byFork = [
  ...['baseFeePerGas', 'withdrawalsRoot', 'blobGasUsed', 'excessBlobGas'],
  ...['parentBeaconBlockRoot', 'requestsHash', 'blockAccessListHash', 'slotNumber'],
] as const
const besideHeader = [
  ...['hash', 'size', 'totalDifficulty', 'uncles', 'transactions', 'withdrawals', 'author'],
] as const
const knownInHeader: ReadonlySet<string> = new Set([...header, ...byFork, ...besideHeader])
const quantities: ReadonlySet<string> = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas'],
  ...['blobGasUsed', 'excessBlobGas', 'slotNumber', 'chainId', 'gas', 'value', 'gasPrice'],
  ...['maxPriorityFeePerGas', 'maxFeePerGas', 'maxFeePerBlobGas', 'yParity', 'v', 'r', 's'],
])

/** Null for a header with unknown members, or without a required one. */
function headerOf(block: Fields): Hashed | null {
  if (!Object.keys(block).every((name) => knownInHeader.has(name))) return null
  const added = byFork.filter((name) => (block[name] ?? null) !== null)
  const items = [...header, ...added].map((name) => encoded(block, name))
  return hashed(`header ${added.join(' ')}`, '', items)
}

const fees = ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas'] as const
const body = ['gas', 'to', 'value', 'input'] as const
const signature = ['yParity', 'r', 's'] as const

/** Members of each type (EIP-2718), in hash order. */
const types: readonly (readonly string[])[] = [
  ['nonce', 'gasPrice', ...body, 'v', 'r', 's'],
  ['chainId', 'nonce', 'gasPrice', ...body, 'accessList', ...signature],
  [...fees, ...body, 'accessList', ...signature],
  [...fees, ...body, 'accessList', 'maxFeePerBlobGas', 'blobVersionedHashes', ...signature],
  [...fees, ...body, 'accessList', 'authorizationList', ...signature],
]

/** Null if the type is unknown, or if the signature or another member is missing. */
function transactionOf(transaction: Fields): Hashed | null {
  const type = toNumber(transaction['type'] ?? 0)
  const members = type === null ? undefined : types[type]
  if (members === undefined || type === null) return null
  if (!['r', 's'].some((name) => /[^0x]/.test(String(transaction[name])))) return null
  const items = members.map((name) => encoded(transaction, name))
  return hashed(`transaction ${type}`, type === 0 ? '' : `0${type}`, items)
}

function hashed(form: string, prefix: string, items: readonly (string | null)[]): Hashed | null {
  const list = listFrom(items)
  return list === null ? null : { form, preimage: prefix + list }
}

/** One member in RLP; null if it is missing or has another form. */
function encoded(fields: Fields, name: string): string | null {
  const value = fields[name] ?? (name === 'yParity' ? fields['v'] : name === 'to' ? '0x' : null)
  if (name === 'accessList') return listOf(value, accessOf)
  if (name === 'blobVersionedHashes') return listOf(value, dataOf)
  if (name === 'authorizationList') return listOf(value, authorizationOf)
  const isQuantity = quantities.has(name) || (name === 'nonce' && !('parentHash' in fields))
  return isQuantity ? quantityOf(value) : dataOf(value)
}

function accessOf(item: unknown): string | null {
  const keys = listOf(valueAt(item, ['storageKeys']), dataOf)
  return listFrom([dataOf(valueAt(item, ['address'])), keys])
}

function authorizationOf(item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return null
  const names = ['chainId', 'address', 'nonce', ...signature]
  return listFrom(names.map((name) => encoded(item as Fields, name)))
}

export function listOf(value: unknown, itemOf: (item: unknown) => string | null): string | null {
  return Array.isArray(value) ? listFrom(value.map(itemOf)) : null
}

/** Encodes a list in RLP; null if an item is missing or has another form. */
export function listFrom(items: readonly (string | null)[]): string | null {
  return items.includes(null) ? null : rlp(0xc0, items.join(''))
}

export function quantityOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/i.test(value)) return null
  const digits = value.slice(2).replace(/^0+/, '')
  return rlp(0x80, digits.length % 2 === 0 ? digits : `0${digits}`)
}

export function dataOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(value)) return null
  return rlp(0x80, value.slice(2))
}

/** A string (0x80) or a list (0xc0) in RLP (yellow paper, appendix B), in hex. */
function rlp(kind: 0x80 | 0xc0, content: string): string {
  const length = content.length / 2
  if (kind === 0x80 && length === 1 && Number.parseInt(content, 16) < 0x80) return content
  if (length < 56) return (kind + length).toString(16) + content
  const digits = length.toString(16)
  const even = digits.padStart(digits.length + (digits.length % 2), '0')
  return (kind + 55 + even.length / 2).toString(16) + even + content
}
