// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { encodeRlp } from 'ethers'
import type { DraftLog } from './drafts.ts'
import { type Hex, keccak256, toData } from './hex.ts'
import type { Block, Transaction } from './shapes.ts'

/*
 * The hashes of Ethereum, made as its nodes make them. By another library than the router's, so that
 * one checks the other.
 */

/** A block before it has a hash. */
export type Unhashed = Omit<Block, 'hash' | 'transactions'>

/** The hash of a header of the Cancun fork. */
export function headerHash(block: Unhashed): Hex {
  const number = (value: Hex) => quantity(value)
  return digestOf([
    ...[block.parentHash, block.sha3Uncles, block.miner ?? '0x', block.stateRoot],
    ...[block.transactionsRoot, block.receiptsRoot, block.logsBloom ?? '0x'],
    ...[number(block.difficulty), number(block.number), number(block.gasLimit)],
    ...[number(block.gasUsed), number(block.timestamp), block.extraData],
    ...[block.mixHash, block.nonce ?? '0x', number(block.baseFeePerGas)],
    ...[block.withdrawalsRoot, number(block.blobGasUsed), number(block.excessBlobGas)],
    block.parentBeaconBlockRoot,
  ])
}

/** The hash of a transaction of the type 0, or of the type 2 without an access list. */
export function transactionHashOf(
  transaction: Omit<Transaction, 'hash' | 'blockHash' | 'blockNumber' | 'transactionIndex'>,
): Hex {
  const { nonce, gas, to, value, input, v, r, s } = transaction
  const body = [quantity(gas), to ?? '0x', quantity(value), input]
  const signature = [v, r, s].map(quantity)
  if (transaction.type === '0x0')
    return digestOf([quantity(nonce), quantity(transaction.gasPrice), ...body, ...signature])
  const { chainId, maxPriorityFeePerGas = '0x', maxFeePerGas = '0x' } = transaction
  const fees = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas].map(quantity)
  return digestOf([...fees, ...body, [], ...signature], '02')
}

function digestOf(items: readonly (string | readonly string[])[], type = ''): Hex {
  const encoded = encodeRlp(items as Parameters<typeof encodeRlp>[0])
  return toData(keccak256(Buffer.from(type + encoded.slice(2), 'hex')))
}

/** Without leading zeros, in whole bytes. */
function quantity(value: Hex): Hex {
  const digits = value.slice(2).replace(/^0+/, '')
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}

/** The 2048-bit bloom filter over the addresses and topics of logs (yellow paper, section 4.3.1). */
export function logsBloom(logs: readonly Pick<DraftLog, 'address' | 'topics'>[]): Hex {
  const bloom = Buffer.alloc(256)
  const members = new Set(logs.flatMap((log) => [log.address, ...log.topics]))
  for (const member of members) {
    const digest = keccak256(Buffer.from(member.slice(2), 'hex'))
    for (const at of [0, 2, 4]) {
      const bit = digest.readUInt16BE(at) % 2048
      const byte = 255 - (bit >> 3)
      bloom[byte] = bloom[byte]! | (1 << (bit & 7))
    }
  }
  return toData(bloom)
}
