// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Hex, keccak256, toData } from './hex.ts'
import type { DraftLog } from './drafts.ts'

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
