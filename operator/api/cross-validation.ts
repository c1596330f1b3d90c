// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { untilBuilt } from './capabilities.ts'
import type { z } from 'zod'
import { boolean, integer, list, object } from './field.ts'
import { apiInterface, chainId, word } from './names.ts'

function count(description: string, example: number) {
  return integer(description, [1, 1000], example)
}

function bounds(description: string) {
  return object(
    description,
    {
      floor: count('The least; what a caller asks for is raised to it.', 2).optional(),
      cap: count('The most; what a caller asks for is cut to it.', 3).optional(),
    },
    { floor: 2, cap: 3 },
    {
      '{field} must have floor, cap or both': 'has(self.floor) || has(self.cap)',
      '{field}.floor must be at most {field}.cap':
        '!has(self.floor) || !has(self.cap) || self.floor <= self.cap',
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
  'What holds for one method.',
  {
    chainId: chainId('Chain.', 'ETH1'),
    apiInterface: apiInterface('Interface.', 'jsonrpc'),
    method: word('Method that the policy applies to.', 'eth_getBalance'),
    enabled: boolean('Whether the policy is active.').default(true),
    agreementThreshold: bounds('How many answers must match.').optional(),
    maxParticipants: bounds('How many upstreams are asked.').optional(),
    minGroups: bounds('How many groups the matching answers must come from.').optional(),
    perGroupQuorum: count('How many answers must match within each group.', 1).optional(),
    forbidCallers: boolean(
      'Whether callers may not ask for cross-validation of this method.',
    ).default(false),
  },
  examplePolicy,
  {
    'agreementThreshold.floor must be at most maxParticipants.floor':
      'self.?agreementThreshold.floor.orValue(1) <= self.?maxParticipants.floor.orValue(1000)',
    'agreementThreshold.floor must be at most maxParticipants.cap':
      'self.?agreementThreshold.floor.orValue(1) <= self.?maxParticipants.cap.orValue(1000)',
    'minGroups.floor must be at most maxParticipants.cap':
      'self.?minGroups.floor.orValue(1) <= self.?maxParticipants.cap.orValue(1000)',
  },
)

/** Which answers are compared between upstreams before one is given. */
export const crossValidation = object(
  untilBuilt(
    'cross-validation',
    'Which answers are compared between upstreams before one is given. Unset: none.',
  ),
  {
    policies: list('One policy per chain, interface and method.', policy, {
      min: 1,
      max: 128,
      kind: ['chainId', 'apiInterface', 'method'],
    }),
  },
  { policies: [examplePolicy] },
)

export type CrossValidation = z.output<typeof crossValidation>
