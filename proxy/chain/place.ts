// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { strict } from './describe-issue.ts'

export const headerName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be a header name in lower case')

const fieldNumber = z.int().min(1).max(536_870_911)

export const paramPlace = { param: z.int().min(0).max(31), name: z.string().min(1).optional() }

/** Keys and indexes from the result down; empty for the result itself. */
export const resultPath = z.array(z.union([z.string().min(1), z.int().min(0)])).max(16)

/** Where one value stands in a request. */
export const pointPlace = strict({
  param: paramPlace.param.optional(),
  name: paramPlace.name,
  field: z.union([z.string().min(1), resultPath]).optional(),
  'path-parameter': z.string().min(1).optional(),
  query: z.string().min(1).optional(),
  header: headerName.optional(),
  message: z.array(fieldNumber).min(1).max(16).optional(),
})
