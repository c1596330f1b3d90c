// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { SigningKey } from 'ethers'
import { askBtcd, type BtcdNode, miningKey } from '../btcd.ts'

const feeSatoshi = 10_000n
const key = new SigningKey(miningKey)
const publicKey = Buffer.from(key.compressedPublicKey.slice(2), 'hex')
const everything = Buffer.from('01000000', 'hex')

/** A signed transaction that returns the coins of a mined block to their owner. */
export interface Spending {
  readonly id: string
  readonly hex: string
}

/** Spends the reward of the block at a height. Coins become spendable 100 blocks later. */
export async function spendReward(node: BtcdNode, height: number): Promise<Spending> {
  const hash = await askBtcd<string>(node, 'getblockhash', [height])
  const { tx } = await askBtcd<{ tx: string[] }>(node, 'getblock', [hash, 1])
  const [reward = ''] = tx
  const { vout } = await askBtcd<{
    vout: { value: number; scriptPubKey: { hex: string } }[]
  }>(node, 'getrawtransaction', [reward, 1])
  const [output] = vout
  if (!output) throw new Error(`${reward} has no output`)
  const script = Buffer.from(output.scriptPubKey.hex, 'hex')
  const satoshi = BigInt(Math.round(output.value * 1e8)) - feeSatoshi
  const written = (input: Buffer) => transaction(reward, input, satoshi, script)
  const digest = twice(Buffer.concat([written(script), everything]))
  const { r, s } = key.sign(digest)
  const signature = Buffer.concat([der(r, s), everything.subarray(0, 1)])
  const bytes = written(Buffer.concat([pushed(signature), pushed(publicKey)]))
  return { id: reversed(twice(bytes)).toString('hex'), hex: bytes.toString('hex') }
}

/** Encodes a transaction with one input and one output. */
function transaction(from: string, input: Buffer, satoshi: bigint, output: Buffer): Buffer {
  const value = Buffer.alloc(8)
  value.writeBigUInt64LE(satoshi)
  return Buffer.concat([
    Buffer.from('0100000001', 'hex'),
    reversed(Buffer.from(from, 'hex')),
    Buffer.alloc(4),
    pushed(input),
    Buffer.from('ffffffff01', 'hex'),
    value,
    pushed(output),
    Buffer.alloc(4),
  ])
}

/** Reverses the bytes of a hash, which text shows in reverse. */
function reversed(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toReversed())
}

/** Adds a length byte, which suffices because all scripts here are shorter than 76 bytes. */
function pushed(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

function der(r: string, s: string): Buffer {
  const integers = [r, s].map((hex) => {
    const digits = BigInt(hex).toString(16)
    const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
    const positive = (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.alloc(1), bytes])
    return Buffer.concat([Buffer.from([2]), pushed(positive)])
  })
  return Buffer.concat([Buffer.from([0x30]), pushed(Buffer.concat(integers))])
}

function twice(bytes: Buffer): Buffer {
  const once = createHash('sha256').update(bytes).digest()
  return createHash('sha256').update(once).digest()
}
