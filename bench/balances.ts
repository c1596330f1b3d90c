// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Address number `n` of the benchmark; no two numbers up to 2^40 have the same. */
export function addressOf(n: number): string {
  return `0xb0${'0'.repeat(27)}1${n.toString(16).padStart(10, '0')}`
}

/** The balance that the mock upstreams give an address: its last eleven digits. */
export function balanceOf(address: string): string {
  return `0x${address.slice(-11)}`
}
