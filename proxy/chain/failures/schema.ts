// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { strict } from '../document.ts'
import { answerFindings, transportFaults } from '../failure-table.ts'

/*
 * The failure tables, `specs/failures/*.yml`, as `specs/README.md` tells them: rows in order, the
 * first that matches decides.
 */

const name = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower case words joined by -')

const verdict = {
  name,
  whose: z.enum(['upstream', 'node', 'caller']),
  retry: z.boolean().optional(),
  'hold-off': z.boolean().optional(),
  weight: z.int().min(0).max(10).optional(),
  reported: z.boolean().optional(),
  late: z.boolean().optional(),
  doubtful: z.literal(true).optional(),
  transaction: z.enum(['known', 'used', 'refused']).optional(),
}

const status = z.union([
  z.int().min(100).max(599),
  z.string().regex(/^[1-5]xx$/, 'must be a status such as 429 or a class such as 5xx'),
])

// What a stranger's error text is matched against must not be made slow by that text.
const pattern = z
  .string()
  .min(1)
  .max(200)
  .check((context) => {
    const problem = patternProblem(context.value)
    if (problem !== null)
      context.issues.push({ code: 'custom', input: context.value, message: problem })
  })

const example = strict({
  /** What was asked for. */
  method: z.string().min(1).optional(),
  code: z.int().optional(),
  status: z.int().optional(),
  message: z.string(),
  from: z.string().min(1),
})

const methodName = z
  .string()
  .regex(/^[^*]+\*?$/, 'must be the name of a method or path, or its beginning and `*`')

const nodeErrorRow = strict({
  ...verdict,
  'only-for': z.array(methodName).min(1).optional(),
  code: z.array(z.int()).min(1).optional(),
  status: z.array(status).min(1).optional(),
  message: z.array(pattern).min(1).optional(),
  first: z.literal(true).optional(),
  last: z.literal(true).optional(),
  examples: z.array(example).min(1),
}).check((context) => {
  const { code, status: statuses, message } = context.value
  if (code === undefined && statuses === undefined && message === undefined)
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: 'must match something: give `code`, `status` or `message`',
    })
  const { 'only-for': onlyFor, examples } = context.value
  if (onlyFor !== undefined && examples.some(({ method }) => method === undefined))
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: 'must have a `method` in each example of a row with `only-for`',
    })
})

export const failureFileSchema = strict({
  failures: name,
  'error-statuses': z.array(z.int().min(400).max(599)).min(1).optional(),
  transport: z
    .array(strict({ ...verdict, fault: z.array(z.enum(transportFaults)).min(1) }))
    .optional(),
  http: z.array(strict({ ...verdict, status: z.array(status).min(1) })).optional(),
  answers: z
    .array(strict({ ...verdict, finding: z.array(z.enum(answerFindings)).min(1) }))
    .optional(),
  'node-errors': z.array(nodeErrorRow).optional(),
})

export type FailureFile = z.output<typeof failureFileSchema>
export type FailureVerdict = Pick<
  NonNullable<FailureFile['node-errors']>[number],
  keyof typeof verdict
>

/** What makes a pattern unfit; null when it is fit. */
function patternProblem(source: string): string | null {
  try {
    new RegExp(source, 'i')
  } catch (cause) {
    return `is not a regular expression: ${(cause as Error).message}`
  }
  const bare = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  if (/\(\?[=!<]/.test(bare) || /\\[1-9k]/.test(source))
    return 'must have no look-around and no back reference'
  if (/\)[*+{]/.test(bare)) return 'must not repeat a group'
  if ((bare.match(/[*+]|\{\d*,\}/g) ?? []).length > 1)
    return 'must repeat without limit at most once: write .{0,80} for the others'
  return null
}
