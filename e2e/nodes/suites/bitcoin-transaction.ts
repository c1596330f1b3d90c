// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { SigningKey } from 'ethers'
import { askBtcd, type BtcdNode, miningKey } from '../btcd.ts'

const feeSatoshi = 10_000n
const key = new SigningKey(miningKey)
const publicKey = Buffer.from(key.compressedPublicKey.slice(2), 'hex')
const everything = Buffer.from('01000000', 'hex')

/** A signed transaction that sends the coins of a mined block back to their owner. */
export interface Spending {
  readonly id: string
  readonly hex: string
}

/** Spends what the block of a height was paid with; coins can be spent 100 blocks later. */
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

/** One input, one output, as the protocol writes it. */
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

/** Hashes are written backwards. */
function reversed(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toReversed())
}

/** With its length in front; all that is here is shorter than 76 bytes, or is no script. */
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
