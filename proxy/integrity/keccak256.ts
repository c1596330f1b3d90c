// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getHashes, hash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bufferOf } from '../json/scanner.ts'

/** OpenSSL has provided it since 3.2, and is many times faster. */
const isBuiltIn = getHashes().some((name) => name.toLowerCase() === 'keccak-256')

/** Ethereum's 32-byte digest. */
export const keccak256: (bytes: Uint8Array) => Buffer = isBuiltIn
  ? (bytes) => hash('keccak-256', bytes, 'buffer')
  : (bytes) => bufferOf(keccak_256(bytes))
