// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from '@solana/kit'

/** A transaction as nodes write it in JSON, named by its first signature, and the bytes that it came in. */
export type SlotTransaction = ReturnType<typeof readTransaction>

/** Reads a transaction from its wire form. @throws when the bytes are none */
export function readTransaction(wire: Buffer) {
  const { messageBytes, signatures } = getTransactionDecoder().decode(wire)
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
  // The newest version compiles instructions in a form of its own, and is not simulated.
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
    /** Null for the chain's own. */
    wire: wire as Buffer | null,
  }
}

/** Bytes as base58 text. */
export function toBase58(bytes: Uint8Array): string {
  return getBase58Decoder().decode(bytes)
}
