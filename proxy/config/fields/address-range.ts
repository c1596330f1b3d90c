// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { BlockList, isIP } from 'node:net'
import { field, type Field } from './field.ts'

export interface AddressRange {
  readonly address: string
  readonly bits: number
}

/** An address range such as `10.0.0.0/8`; without a prefix length, one address. */
export const addressRange: Field<AddressRange> = field(
  { kind: 'address range', type: 'string', examples: ['10.0.0.0/8', 'fd00::/8'] },
  (text) => {
    const [, address = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
    const mostBits = isIP(address) === 6 ? 128 : 32
    const bits = Number(length ?? mostBits)
    if (isIP(address) > 0 && bits <= mostBits) return { value: { address, bits } }
    return { fault: 'is not an address range', hint: 'Write one such as 10.0.0.0/8 or fd00::/8.' }
  },
)

/** Builds a list that matches addresses in any of the ranges. */
export function addressesOf(ranges: readonly AddressRange[]): BlockList {
  const list = new BlockList()
  for (const { address, bits } of ranges)
    list.addSubnet(address, bits, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return list
}
