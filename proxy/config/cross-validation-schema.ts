// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { boolean, integer } from './fields.ts'
import { apiInterface, chainId, word } from './names.ts'
import { Scalar } from './scalar.ts'
import { list } from './section.ts'

const count = integer({ min: 1, max: 1000 })

const bounds = z
  .preprocess(
    (value) => (value instanceof Scalar ? { floor: value } : value),
    z.strictObject({
      floor: count.optional().describe('The least; what a caller asks for is raised to it.'),
      cap: count.optional().describe('The most; what a caller asks for is cut to it.'),
    }),
  )
  .meta({ type: ['object', 'integer'] })

const policySchema = z.strictObject({
  'chain-id': chainId().describe('Chain.'),
  'api-interface': apiInterface().describe('Interface.'),
  method: word('method').describe('Method that the policy applies to.'),
  enabled: boolean()
    .optional()
    .meta({ 'x-default': 'true' })
    .describe('Whether the policy is active.'),
  'agreement-threshold': bounds
    .optional()
    .describe('How many answers must match. N means `{floor: N}`.'),
  'max-participants': bounds
    .optional()
    .describe('How many upstreams are asked. N means `{floor: N}`.'),
  'min-groups': bounds
    .optional()
    .describe('How many groups the matching answers must come from. N means `{floor: N}`.'),
  'per-group-quorum': count.optional().describe('How many answers must match within each group.'),
  'forbid-caller-cv': boolean()
    .optional()
    .meta({ 'x-default': 'false' })
    .describe('Whether callers may not ask for cross-validation of this method.'),
})

/** Which answers are compared between upstreams before one is given. */
export const crossValidationSchema = z.strictObject({
  policies: list(policySchema).optional().describe('One policy per chain, interface and method.'),
})
