// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { strict } from './document.ts'

export const text = z.string().min(1)

export const headerName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be a header name in lower case')

/** Keys and indexes from the result down; empty for the result itself. */
export const resultPath = z.array(z.union([text, z.int().min(0)])).max(16)

/** Of a param among those that stand in a list. */
export const position = z.int().min(0).max(31)

/** Where one value stands in a request: among the params, or in one of the other places. */
export const pointPlace = strict({
  param: position.optional(),
  name: text.optional(),
  field: z.union([text, resultPath]).optional(),
  'path-parameter': text.optional(),
  query: text.optional(),
  header: headerName.optional(),
  message: z.array(z.int().min(1).max(536_870_911)).min(1).max(16).optional(),
})

export type Place = z.output<typeof pointPlace>

/*
 * What an answer to a method must show, as the specs write it. A check compares the answer with the
 * request; what is null or missing in the answer is not compared.
 */

export const checkSchema = z.discriminatedUnion('check', [
  /** The block is the one asked for, by its number or its hash. */
  strict({
    check: z.literal('block'),
    number: resultPath.optional(),
    hash: resultPath.optional(),
    /** The result is a list, and the paths start at each of its items. */
    each: z.boolean().optional(),
    /** The number is that of an earlier block: it is lower, by at most so much. */
    older: z.int().min(1).max(1e9).optional(),
  }),
  /** The value at the path is the one at a place of the request. */
  strict({
    check: z.literal('identity'),
    ...pointPlace.shape,
    result: resultPath,
    as: z.enum(['hash', 'number', 'text']).optional(),
  }),
  /** Each log is inside the filter. */
  strict({ check: z.literal('logs'), ...pointPlace.shape }),
  /** A block that is shown again has the parent that it had before. */
  strict({ check: z.literal('parent'), hash: resultPath, parent: resultPath }),
  /** The answer is the hash of the transaction that was sent, one of Ethereum's types. */
  strict({
    check: z.literal('sent'),
    ...pointPlace.shape,
    digest: z.literal('keccak256'),
    result: resultPath.optional(),
  }),
  /** The hash is made of the header or the transaction that is shown beside it. Level `full` only. */
  strict({
    check: z.literal('proof'),
    form: z.enum(['ethereum-header', 'ethereum-transaction']),
    /** Each object of the list in this member. */
    each: z.string().min(1).optional(),
  }),
  /** Null says that the node has not got the block: with `retry-missing-blocks` another is asked. */
  strict({ check: z.literal('exists') }),
])

export type CheckRule = z.output<typeof checkSchema>

/** A rule, and what stands at its place in the request. */
export interface Check {
  readonly rule: CheckRule
  readonly wanted: unknown
}
