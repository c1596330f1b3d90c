// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from '@solana/kit'

/** A transaction in the JSON of nodes, identified by its first signature, with its wire bytes. */
export type SlotTransaction = ReturnType<typeof readTransaction>

/** Reads a transaction from its wire form. @throws on invalid bytes */
export function readTransaction(wire: Buffer) {
  const { messageBytes, signatures } = getTransactionDecoder().decode(wire)
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
  // The newest version encodes instructions differently, and is not simulated.
  if (!('instructions' in message) || !('header' in message)) throw new TypeError('unknown version')
  const written = Object.values(signatures).map((one) => toBase58(one ?? new Uint8Array(64)))
  const [signature = ''] = written
  return {
    signature,
    signatures: written,
    message: {
      accountKeys: message.staticAccounts.map(String),
      header: {
        numRequiredSignatures: message.header.numSignerAccounts,
        numReadonlySignedAccounts: message.header.numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: message.header.numReadonlyNonSignerAccounts,
      },
      recentBlockhash: 'lifetimeToken' in message ? message.lifetimeToken : '',
      instructions: message.instructions.map((instruction) => ({
        programIdIndex: instruction.programAddressIndex,
        accounts: instruction.accountIndices ?? [],
        data: toBase58(new Uint8Array(instruction.data ?? [])),
        stackHeight: null,
      })),
    },
    version: message.version,
    /** Null for a generated transaction. */
    wire: wire as Buffer | null,
  }
}

export function toBase58(bytes: Uint8Array): string {
  return getBase58Decoder().decode(bytes)
}
