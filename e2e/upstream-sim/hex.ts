// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'

export type Hex = `0x${string}`

/** SHA-256 over the parts: the source of all pseudorandom values in the chain. */
export function digest(...parts: readonly (string | number)[]): Buffer {
  return hash('sha256', parts.join('/'), 'buffer')
}

/** Keccak-256 of bytes, as Ethereum uses it. */
export function keccak256(bytes: Uint8Array): Buffer {
  return hash('keccak-256', bytes, 'buffer')
}

export function toData(bytes: Buffer): Hex {
  return `0x${bytes.toString('hex')}`
}

/** A whole number as an Ethereum quantity: no leading zeros. */
export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}
