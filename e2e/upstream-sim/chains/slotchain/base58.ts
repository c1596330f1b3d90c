// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getBase58Decoder, getBase58Encoder } from '@solana/kit'

const decoder = getBase58Decoder()
const encoder = getBase58Encoder()

/** Bytes as base58 text. */
export function toBase58(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** @throws when the text is no base58 */
export function fromBase58(text: string): Buffer {
  return Buffer.from(encoder.encode(text))
}

/** Whether a text can be the address of an account: 32 bytes in base58. */
export function isAddress(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false
  return fromBase58(text).length === 32
}
