// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { integer, list, object, oneOf, text } from './field.ts'

/** Generations count from 1 and have 64 bits; a number of JavaScript is exact to here. */
const maxGeneration = Number.MAX_SAFE_INTEGER

/** The generation of the object that was looked at last. */
export function observedGeneration() {
  return integer({
    description: 'The metadata.generation that this was derived from.',
    min: 0,
    max: maxGeneration,
  })
}

const condition = object(
  {
    type: text({ description: 'What is judged.', example: 'Ready', max: 316 }),
    status: oneOf(['True', 'False', 'Unknown'], {
      description: 'Whether it holds.',
      example: 'True',
    }),
    observedGeneration: observedGeneration().optional(),
    lastTransitionTime: text({
      description: 'When status changed last.',
      example: '2026-01-31T03:00:00Z',
      max: 64,
    }).meta({ format: 'date-time' }),
    reason: text({
      description: 'One word for programs; docs/reference/conditions.md lists them all.',
      example: 'Ready',
      max: 128,
      pattern: /^[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?$/,
    }),
    message: text({
      description: 'A sentence for people: what is wrong, where, and what would be right.',
      min: 0,
      max: 32_768,
    }),
  },
  { description: 'One thing that is true, false or not known of the object.' },
)

/** Conditions, at most one of a type. */
export const conditions = list(condition, {
  description: 'What holds of the object. docs/reference/conditions.md lists types and reasons.',
  max: 16,
  kind: ['type'],
})

export type Condition = z.output<typeof condition>
