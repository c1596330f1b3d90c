// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { keccak256 } from '../../integrity/keccak256.ts'
import type { ResultDocument } from './result-document.ts'
import { RlpList } from './rlp-list.ts'
import { digitsAt, isNull } from './values.ts'

/** A member of a header: so many bytes, or a number. */
type Member = readonly [name: string, bytes: number | 'quantity' | 'any']

/** The members of every header, in the order in which they are hashed (yellow paper, section 4.3). */
const always: readonly Member[] = [
  ['parentHash', 32],
  ['sha3Uncles', 32],
  ['miner', 20],
  ['stateRoot', 32],
  ['transactionsRoot', 32],
  ['receiptsRoot', 32],
  ['logsBloom', 256],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'any'],
  ['mixHash', 32],
  ['nonce', 8],
]

/** What forks added, each behind those before. */
const byFork: readonly Member[] = [
  // London, EIP-1559
  ['baseFeePerGas', 'quantity'],
  // Shanghai, EIP-4895
  ['withdrawalsRoot', 32],
  // Cancun, EIP-4844 and EIP-4788
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 32],
  // Prague, EIP-7685
  ['requestsHash', 32],
  // Amsterdam, EIP-7928 and EIP-7843
  ['blockAccessListHash', 32],
  ['slotNumber', 'quantity'],
]

/** Beside the header; `author` is Nethermind's other name for the miner. */
const beside = [
  'hash',
  'size',
  'totalDifficulty',
  'uncles',
  'transactions',
  'withdrawals',
  'author',
]

/** Members that the hash is made from, and those that it is known not to be made from. */
export const headerMembers: readonly string[] = [
  ...[...always, ...byFork].map(([name]) => name),
  ...beside,
]
const known = new Set(headerMembers.map((name) => JSON.stringify(name)))

/** About as much as a header takes. */
const usualBytes = 768
/** Longer than the names of what any chain adds to its headers. */
const longestNames = 256

export interface HeaderDigest {
  /** What a fork adds, and members that are not known, make another form. */
  readonly form: string
  /** As 64 digits; null when a member is missing that every header has. */
  readonly digest: string | null
}

/** The digest of the header that a block of Ethereum's JSON-RPC shows. */
export function headerDigest(document: ResultDocument): HeaderDigest {
  const { bytes } = document
  const list = new RlpList(usualBytes)
  const added: string[] = []
  let isWhole = true
  for (const member of always) isWhole = add(member) && isWhole
  for (const member of byFork) {
    const span = document.at([member[0]])
    if (span === null || isNull(bytes, span.start)) continue
    added.push(member[0])
    isWhole = add(member) && isWhole
  }
  const strangers = document.names().filter((name) => !known.has(name))
  const form = [...added, shortened(strangers.toSorted().join(' '))].join(' ')
  return { form, digest: isWhole ? keccak256(list.encoded()).toString('hex') : null }

  function add([name, size]: Member): boolean {
    const span = document.at([name])
    const digits = span && digitsAt(bytes, span.start, span.end)
    if (digits === null) return false
    if (size === 'quantity') return digits.length > 0 && list.addQuantity(digits)
    return (size === 'any' || digits.length === 2 * size) && list.addData(digits)
  }
}

/** Forms are remembered: names that a node makes up must not fill the memory. */
function shortened(names: string): string {
  return names.length <= longestNames ? names : keccak256(Buffer.from(names)).toString('hex')
}
