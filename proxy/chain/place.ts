// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { strict } from './describe-issue.ts'

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
