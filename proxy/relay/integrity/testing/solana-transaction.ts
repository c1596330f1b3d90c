// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export interface SolanaTransactionOptions {
  readonly signatures?: number
  /** Default: one without a version. */
  readonly version?: number
  readonly dataBytes?: number
  /** The first byte of the first signature. */
  readonly first?: number
}

/** A transaction as it goes over Solana's wire, signed by nobody. */
export function solanaTransaction({
  signatures = 1,
  version,
  dataBytes = 5,
  first = 9,
}: SolanaTransactionOptions): Buffer {
  const isVersioned = version !== undefined
  const bytes = (length: number, value: number) => Buffer.alloc(length, value)
  // Seven bits in each byte, the lowest first.
  const count = (value: number) =>
    value < 0x80 ? Buffer.of(value) : Buffer.of((value & 0x7f) | 0x80, value >> 7)
  const signed = Array.from({ length: signatures }, (_, at) => bytes(64, at + 2))
  signed[0]?.writeUInt8(first, 0)
  const keys = Array.from({ length: signatures + 1 }, (_, at) => bytes(32, at + 20))
  const lookup = Buffer.concat([bytes(32, 40), Buffer.of(2, 0, 1, 1, 3)])
  return Buffer.concat([
    count(signatures),
    ...signed,
    ...(isVersioned ? [Buffer.of(0x80 | version)] : []),
    Buffer.of(signatures, 0, 1),
    count(keys.length),
    ...keys,
    bytes(32, 30),
    count(1),
    Buffer.of(signatures, 1, 0),
    count(dataBytes),
    bytes(dataBytes, 7),
    ...(isVersioned ? [count(1), lookup] : []),
  ])
}
