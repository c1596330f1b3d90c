// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainView } from './chain-view.ts'
import type { Hex } from './hex.ts'
import { invalidParams } from './rpc-error.ts'

const tags = ['latest', 'pending', 'safe', 'finalized', 'earliest'] as const

/** A block as a client asks for it. */
export type BlockRef =
  { readonly tag: (typeof tags)[number] } | { readonly height: number } | { readonly hash: Hex }

/** The parameters of one call, read as geth reads them, refused in geth's words. */
export class Params {
  readonly #values: readonly unknown[]

  constructor(values: readonly unknown[], max: number) {
    if (values.length > max) throw invalidParams(`too many arguments, want at most ${max}`)
    this.#values = values
  }

  /** True when the parameter is there and not null. */
  has(at: number): boolean {
    return this.#values[at] !== undefined && this.#values[at] !== null
  }

  address(at: number): Hex {
    return hexOf(this.#required(at), 20, at, 'common.Address')
  }

  hash(at: number): Hex {
    return hexOf(this.#required(at), 32, at, 'common.Hash')
  }

  data(at: number): Hex {
    return hexOf(this.#required(at), null, at, 'hexutil.Bytes')
  }

  quantity(at: number): number {
    return quantityOf(this.#required(at), at)
  }

  boolean(at: number): boolean {
    const value = this.#required(at)
    if (typeof value !== 'boolean') throw cannotUnmarshal(at, value, 'bool')
    return value
  }

  object(at: number): Readonly<Record<string, unknown>> {
    const value = this.#required(at)
    if (typeof value !== 'object' || Array.isArray(value))
      throw cannotUnmarshal(at, value, 'object')
    return value as Record<string, unknown>
  }

  array(at: number): readonly unknown[] {
    const value = this.#required(at)
    if (!Array.isArray(value)) throw cannotUnmarshal(at, value, 'slice')
    return value
  }

  /** A tag or a height; with `orHash` also an EIP-1898 object or a bare hash. */
  block(at: number, orHash: boolean): BlockRef {
    return blockRefOf(this.#required(at), at, orHash)
  }

  #required(at: number): unknown {
    if (!this.has(at)) throw invalidParams(`missing value for required argument ${at}`)
    return this.#values[at]
  }
}

/** Reads a tag, a height, and with `orHash` a hash. `at` is the parameter that an error names. */
export function blockRefOf(value: unknown, at: number, orHash: boolean): BlockRef {
  if (orHash && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { blockHash, blockNumber } = value as Record<string, unknown>
    if (blockHash !== undefined) return { hash: hexOf(blockHash, 32, at, 'common.Hash') }
    return blockRefOf(blockNumber, at, false)
  }
  if (typeof value !== 'string') throw cannotUnmarshal(at, value, 'rpc.BlockNumber')
  const tag = tags.find((one) => one === value)
  if (tag !== undefined) return { tag }
  if (orHash && value.length === 66) return { hash: hexOf(value, 32, at, 'common.Hash') }
  return { height: quantityOf(value, at) }
}

/** Reads hex data of a fixed length, or of any when `bytes` is null. Lower-cases it. */
export function hexOf(value: unknown, bytes: number | null, at: number, type: string): Hex {
  if (typeof value !== 'string') throw cannotUnmarshal(at, value, type)
  if (!value.startsWith('0x')) throw invalidArgument(at, `hex string without 0x prefix`)
  if (!/^0x[0-9a-f]*$/i.test(value)) throw invalidArgument(at, `invalid hex string`)
  if (value.length % 2 !== 0) throw invalidArgument(at, `hex string of odd length`)
  if (bytes !== null && value.length !== 2 + 2 * bytes)
    throw invalidArgument(
      at,
      `hex string has length ${value.length - 2}, want ${2 * bytes} for ${type}`,
    )
  return value.toLowerCase() as Hex
}

function quantityOf(value: unknown, at: number): number {
  if (typeof value !== 'string') throw cannotUnmarshal(at, value, 'hexutil.Uint64')
  if (!value.startsWith('0x')) throw invalidArgument(at, 'hex string without 0x prefix')
  if (value === '0x') throw invalidArgument(at, 'hex string "0x"')
  if (!/^0x[0-9a-f]+$/i.test(value)) throw invalidArgument(at, 'invalid hex string')
  if (/^0x0./.test(value)) throw invalidArgument(at, 'hex number with leading zero digits')
  if (value.length > 18) throw invalidArgument(at, 'hex number > 64 bits')
  return Number(BigInt(value))
}

function invalidArgument(at: number, detail: string) {
  return invalidParams(`invalid argument ${at}: ${detail}`)
}

function cannotUnmarshal(at: number, value: unknown, type: string) {
  const kind = Array.isArray(value) ? 'array' : typeof value
  return invalidArgument(at, `json: cannot unmarshal ${kind} into Go value of type ${type}`)
}

/** One JSON-RPC method of a node. */
export interface Method {
  /** The most parameters that it takes. */
  readonly maxParams: number
  /** The result. Throws an `RpcError` for the node's own errors. */
  run(view: ChainView, params: Params): unknown
}

export type Methods = Readonly<Record<string, Method>>
