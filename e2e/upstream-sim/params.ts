// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import type { ChainView, BlockRef } from './chain-view.ts'
import type { Hex } from './hex.ts'
import { invalidParams } from './json-rpc.ts'
import type { Method } from './rpc-node.ts'

/* Parameters of Ethereum methods. All others are refused. */

const tags = ['latest', 'pending', 'safe', 'finalized', 'earliest'] as const

function hex(form: RegExp) {
  return z
    .string()
    .regex(form, 'invalid hex string')
    .transform((text) => text.toLowerCase() as Hex)
}

export const data = hex(/^0x(?:[0-9a-f]{2})*$/i)
export const address = hex(/^0x[0-9a-f]{40}$/i)
export const hash = hex(/^0x[0-9a-f]{64}$/i)
export const quantity = hex(/^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/i).transform(Number)
export const flag = z.boolean()

const byHash = hash.transform((found): BlockRef => ({ hash: found }))

/** A tag or a height. */
export const block = z.union([
  quantity.transform((height): BlockRef => ({ height })),
  z.enum(tags).transform((tag): BlockRef => ({ tag })),
])

/** A tag, a height, or a hash, which may be in an EIP-1898 object. */
export const blockOrHash = z.union([
  block,
  byHash,
  z.object({ blockHash: byHash }).transform(({ blockHash }) => blockHash),
  z.object({ blockNumber: block }).transform(({ blockNumber }) => blockNumber),
])

/** An optional block reference that defaults to the latest block. */
export const blockOrLatest = blockOrHash
  .nullish()
  .transform((ref): BlockRef => ref ?? { tag: 'latest' })

type Values<Types extends readonly z.ZodType[]> = {
  [At in keyof Types]: z.output<Types[At]>
}

/** A method with parameters of these types. */
export function method<const Types extends readonly z.ZodType[]>(
  types: Types,
  run: (view: ChainView, ...values: Values<Types>) => unknown,
): Method<ChainView> {
  return (view, params) => {
    if (params.length > types.length)
      throw invalidParams(`too many arguments, want at most ${types.length}`)
    const values = types.map((type, at) => {
      const read = type.safeParse(params[at])
      if (read.success) return read.data
      throw invalidParams(`invalid argument ${at}: ${read.error.issues[0]?.message ?? ''}`)
    })
    return run(view, ...(values as Values<Types>))
  }
}
