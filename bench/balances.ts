// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Address number `n` of the benchmark, distinct for all numbers up to 2^40. */
export function addressOf(n: number): string {
  return `0xb0${'0'.repeat(27)}1${n.toString(16).padStart(10, '0')}`
}

/** The balance of an address at the mock upstreams: its last eleven digits. */
export function balanceOf(address: string): string {
  return `0x${address.slice(-11)}`
}
