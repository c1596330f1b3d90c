// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toEventSelector } from 'viem'

/** A contract that accepts payments, logs their amounts, and stores the last one. */
export const tillAbi = [
  {
    type: 'event',
    name: 'Paid',
    inputs: [{ name: 'amount', type: 'uint256', indexed: false }],
  },
  {
    type: 'function',
    name: 'last',
    stateMutability: 'view',
    inputs: [],
    outputs: [{ name: '', type: 'uint256' }],
  },
] as const

const paidTopic = toEventSelector(tillAbi[0]).slice(2)

/** Returns slot 0 for a call with data. Otherwise logs `Paid(value)`, and stores it in slot 0. */
const code = [
  '366030', // CALLDATASIZE, PUSH1 0x30
  '57', // JUMPI
  '345f52', // mem[0] = CALLVALUE
  `7f${paidTopic}60205fa1`, // LOG1(0, 32, topic)
  '345f5500', // slot[0] = CALLVALUE, STOP
  '5b5f545f5260205ff3', // JUMPDEST: return slot[0]
].join('')
const length = (code.length / 2).toString(16).padStart(2, '0')

export const tillInitCode = `0x60${length}600c60003960${length}6000f3${code}` as const
