// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { untilBuilt } from './capabilities.ts'
import type { z } from 'zod'
import { boolean, integer, list, object } from './field.ts'
import { apiInterface, chainId, word } from './names.ts'

function count(description: string, example: number) {
  return integer({ description, example, min: 1, max: 1000 })
}

function bounds(name: string, description: string) {
  return object(
    {
      floor: count('The least; what a caller asks for is raised to it.', 2).optional(),
      cap: count('The most; what a caller asks for is cut to it.', 3).optional(),
    },
    {
      description,
      example: { floor: 2, cap: 3 },
      rules: [
        {
          rule: 'has(self.floor) || has(self.cap)',
          message: `${name} must have floor, cap or both`,
        },
        {
          rule: '!has(self.floor) || !has(self.cap) || self.floor <= self.cap',
          message: `${name}.floor must be at most ${name}.cap`,
        },
      ],
    },
  )
}

const examplePolicy = {
  chainId: 'ETH1',
  apiInterface: 'jsonrpc',
  method: 'eth_getBalance',
  agreementThreshold: { floor: 2 },
  maxParticipants: { floor: 3, cap: 5 },
}

const policy = object(
  {
    chainId: chainId({ description: 'Chain.', example: 'ETH1' }),
    apiInterface: apiInterface({ description: 'Interface.', example: 'jsonrpc' }),
    method: word('method', {
      description: 'Method that the policy applies to.',
      example: 'eth_getBalance',
    }),
    enabled: boolean({ description: 'Whether the policy is active.', example: true }).default(true),
    agreementThreshold: bounds('agreementThreshold', 'How many answers must match.').optional(),
    maxParticipants: bounds('maxParticipants', 'How many upstreams are asked.').optional(),
    minGroups: bounds(
      'minGroups',
      'How many groups the matching answers must come from.',
    ).optional(),
    perGroupQuorum: count('How many answers must match within each group.', 1).optional(),
    forbidCallers: boolean({
      description: 'Whether callers may not ask for cross-validation of this method.',
      example: false,
    }).default(false),
  },
  {
    description: 'What holds for one method.',
    example: examplePolicy,
    rules: [
      {
        rule: 'self.?agreementThreshold.floor.orValue(1) <= self.?maxParticipants.floor.orValue(1000)',
        message: 'agreementThreshold.floor must be at most maxParticipants.floor',
      },
      {
        rule: 'self.?agreementThreshold.floor.orValue(1) <= self.?maxParticipants.cap.orValue(1000)',
        message: 'agreementThreshold.floor must be at most maxParticipants.cap',
      },
      {
        rule: 'self.?minGroups.floor.orValue(1) <= self.?maxParticipants.cap.orValue(1000)',
        message: 'minGroups.floor must be at most maxParticipants.cap',
      },
    ],
  },
)

/** Which answers are compared between upstreams before one is given. */
export const crossValidation = object(
  {
    policies: list(policy, {
      description: 'One policy per chain, interface and method.',
      example: [examplePolicy],
      min: 1,
      max: 128,
      kind: ['chainId', 'apiInterface', 'method'],
    }),
  },
  {
    description: untilBuilt(
      'cross-validation',
      'Which answers are compared between upstreams before one is given. Unset: none.',
    ),
    example: { policies: [examplePolicy] },
  },
)

export type CrossValidation = z.output<typeof crossValidation>
