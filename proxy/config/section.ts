// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { kindKeyword } from './field.ts'
import { Scalar } from './scalar.ts'

/** A list; a single scalar where a list is wanted is a list of one. */
export function list<T extends z.ZodType>(item: T, least = 0): z.ZodType<z.output<T>[]> {
  const items = least > 0 ? z.array(item).min(least) : z.array(item)
  return z
    .preprocess((value) => (value instanceof Scalar ? [value] : value), items)
    .meta({ [kindKeyword]: 'list' })
}
