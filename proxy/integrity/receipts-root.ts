// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { valueAt } from '../json/value-at.ts'
import { toNumber, toQuantity } from '../json/values.ts'
import { keccak256 } from './keccak256.ts'
import { dataOf, listFrom, listOf, quantityOf, rlp } from './proof.ts'

interface Leaf {
  /** Nibbles of the key, in hex. */
  readonly key: string
  /** RLP of the value. */
  readonly value: string
}

/**
 * Root of the trie of a block's receipts (yellow paper, section 4.3.1 and appendix D), which its
 * header commits to. Null if a receipt has an unknown form.
 */
export function receiptsRoot(receipts: readonly unknown[]): string | null {
  const leaves: Leaf[] = []
  for (const receipt of receipts) {
    const index = toNumber(valueAt(receipt, ['transactionIndex']))
    const bytes = receiptOf(receipt)
    const key = index === null ? null : quantityOf(toQuantity(index))
    if (bytes === null || key === null) return null
    leaves.push({ key, value: rlp(0x80, bytes) })
  }
  return `0x${digestOf(nodeOf(leaves, 0))}`
}

/** The bytes of a receipt (EIP-2718), in hex. */
function receiptOf(receipt: unknown): string | null {
  const at = (name: string) => valueAt(receipt, [name])
  const type = toNumber(at('type') ?? 0)
  const list = listFrom([
    at('status') === undefined ? dataOf(at('root')) : quantityOf(at('status')),
    quantityOf(at('cumulativeGasUsed')),
    dataOf(at('logsBloom')),
    listOf(at('logs'), (log) =>
      listFrom([
        dataOf(valueAt(log, ['address'])),
        listOf(valueAt(log, ['topics']), dataOf),
        dataOf(valueAt(log, ['data'])),
      ]),
    ),
  ])
  if (list === null || type === null) return null
  return type === 0 ? list : type.toString(16).padStart(2, '0') + list
}

/** RLP of the node that holds these leaves, below the first nibbles of their keys. */
function nodeOf(leaves: readonly Leaf[], depth: number): string {
  const [first, ...others] = leaves
  if (!first) return '80'
  if (others.length === 0) return pair(pathOf(first.key.slice(depth), true), first.value)
  let end = depth
  while (others.every(({ key }) => key[end] === first.key[end])) end += 1
  if (end > depth)
    return pair(pathOf(first.key.slice(depth, end), false), refTo(nodeOf(leaves, end)))
  const byNibble = Map.groupBy(leaves, ({ key }) => key[depth])
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const below = byNibble.get(nibble.toString(16))
    return below ? refTo(nodeOf(below, depth + 1)) : '80'
  })
  // No key is the beginning of another one, so a branch has no value.
  return rlp(0xc0, `${children.join('')}80`)
}

function pair(path: string, content: string): string {
  return rlp(0xc0, rlp(0x80, path) + content)
}

/** Nibbles with their parity and the kind of the node, in hex. */
function pathOf(nibbles: string, isLeaf: boolean): string {
  const isOdd = nibbles.length % 2 === 1
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
  return `${flag}${isOdd ? '' : '0'}${nibbles}`
}

function refTo(node: string): string {
  return node.length < 64 ? node : rlp(0x80, digestOf(node))
}

function digestOf(node: string): string {
  return keccak256(Buffer.from(node, 'hex')).toString('hex')
}
