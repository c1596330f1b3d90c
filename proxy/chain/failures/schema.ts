// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { strict } from '../document.ts'
import { answerFindings, limitKinds, rangeLimits, transportFaults } from '../failure-table.ts'

/*
 * Schema of the failure tables in `specs/failures/*.yml`, documented in `specs/README.md`. The
 * first matching row wins.
 */

const name = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower case words joined by -')

const failureKeys = {
  name,
  origin: z.enum(['upstream', 'node', 'caller', 'router']),
  retry: z.boolean().optional(),
  cooldown: z.boolean().optional(),
  /** What is limited; with `cooldown` a rate by default. `call`: the method at this URL. */
  limit: z.enum(limitKinds).optional(),
  weight: z.int().min(0).max(10).optional(),
  reported: z.boolean().optional(),
  late: z.boolean().optional(),
  busy: z.literal(true).optional(),
  doubtful: z.literal(true).optional(),
  pruned: z.literal(true).optional(),
  /** What is limited in a range of blocks. A smaller range may succeed. */
  range: z.enum(rangeLimits).optional(),
  transaction: z.enum(['pending', 'known', 'used', 'refused']).optional(),
}

const status = z.union([
  z.int().min(100).max(599),
  z.string().regex(/^[1-5]xx$/, 'must be a status such as 429 or a class such as 5xx'),
])

export const pattern = z.string().min(1).max(200).refine(isPattern, 'is not a regular expression')

const example = strict({
  method: z.string().min(1).optional(),
  code: z.int().optional(),
  status: z.int().optional(),
  message: z.string(),
  from: z.string().min(1),
})

export const methodName = z
  .string()
  .regex(/^[^*]+\*?$/, 'must be the name of a method or path, or its beginning and `*`')

const nodeErrorRow = strict({
  ...failureKeys,
  'only-for': z.array(methodName).min(1).optional(),
  code: z.array(z.int()).min(1).optional(),
  status: z.array(status).min(1).optional(),
  message: z.array(pattern).min(1).optional(),
  first: z.literal(true).optional(),
  last: z.literal(true).optional(),
  examples: z.array(example).min(1),
})
  .refine(({ code, status: statuses, message }) => code ?? statuses ?? message, {
    error: 'must match something: give `code`, `status` or `message`',
  })
  .refine((row) => !row['only-for'] || row.examples.every(({ method }) => method), {
    error: 'must have a `method` in each example of a row with `only-for`',
  })

export const failureFileSchema = strict({
  failures: name,
  /** Where a limit says how long to wait: patterns with groups named `m`, `s` or `ms`. */
  'retry-after': z.array(pattern).min(1).optional(),
  /**
   * Where a limit of a range says what it accepts: patterns with a group `blocks`, or with `from`
   * and `to`. The first match decides.
   */
  'range-limit': z.array(pattern).min(1).optional(),
  'error-statuses': z.array(z.int().min(400).max(599)).min(1).optional(),
  transport: z
    .array(strict({ ...failureKeys, fault: z.array(z.enum(transportFaults)).min(1) }))
    .optional(),
  http: z.array(strict({ ...failureKeys, status: z.array(status).min(1) })).optional(),
  answers: z
    .array(strict({ ...failureKeys, finding: z.array(z.enum(answerFindings)).min(1) }))
    .optional(),
  'node-errors': z.array(nodeErrorRow).optional(),
})

export type FailureFile = z.output<typeof failureFileSchema>
export type FailureRow = NonNullable<FailureFile['node-errors']>[number]

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'i') instanceof RegExp
  } catch {
    return false
  }
}
