// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { buildPolicy, type PolicyEntry } from '../config/cross-validation.ts'
import { type Call, Journal, noDirectives } from '../relay/call.ts'
import type { RelayError } from '../relay/errors.ts'
import { termsOf } from './terms.ts'

const entryOf = { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc' as const, method: 'm' }

/** `3/2` stands for three participants, two of which must agree. */
function terms(
  policy: Partial<PolicyEntry> | null,
  requested: string | null,
  kind = 'read',
): string {
  const [participants = 0, agreement = 0] = requested?.split('/').map(Number) ?? []
  const call = {
    method: {
      known: true,
      name: 'm',
      kind,
      stateful: null,
    },
    request: { body: null },
    journal: new Journal(0),
    directives: {
      ...noDirectives,
      crossValidation: requested === null ? null : { participants, agreement },
    },
  } as unknown as Call
  const entry = { ...entryOf, ...policy }
  try {
    const found = termsOf(call, policy === null ? undefined : buildPolicy(entry))
    if (found === null) return 'plain'
    const { participants: requests, agreement: match, minParticipants } = found
    return `${requests}/${match}${minParticipants === requests ? '' : ` of ${minParticipants}`}`
  } catch (error) {
    return (error as RelayError).kind.reason
  }
}

const floors = { 'agreement-threshold': { floor: 2 }, 'max-participants': { floor: 3, cap: 5 } }
const caps = { 'agreement-threshold': { cap: 2 }, 'max-participants': { cap: 4 } }

test.each<[Partial<PolicyEntry> | null, string | null, string]>([
  [null, null, 'plain'],
  [null, '3/2', '3/2 of 2'],
  [null, '1/1', '1/1'],
  [floors, null, '3/2'],
  [floors, '1/1', '3/2'],
  [floors, '4/2', '4/2 of 3'],
  [floors, '4/4', '4/4'],
  [floors, '9/2', '5/2 of 3'],
  [floors, '9/6', 'insufficient-capacity'],
  [caps, null, 'plain'],
  [caps, '3/3', '3/2 of 2'],
  [caps, '9/2', '4/2 of 2'],
  [{ 'agreement-threshold': { floor: 3 } }, null, '3/3'],
  [{ 'agreement-threshold': { floor: 3 } }, '2/2', '3/3'],
  [{ 'max-participants': { floor: 4 } }, null, '4/3'],
  [{ 'max-participants': { floor: 5 } }, null, '5/3'],
  [{ 'max-participants': { cap: 2 } }, '4/3', 'insufficient-capacity'],
  [{ 'min-groups': { floor: 2 } }, null, '2/2'],
  [{ 'min-groups': { floor: 2 }, 'per-group-quorum': 2 }, null, '4/4'],
  [{ 'min-groups': { floor: 2 } }, '3/2', '3/2 of 2'],
  [{ 'per-group-quorum': 1, 'ignore-fields': ['a'] }, null, 'plain'],
  [{ 'forbid-caller-cv': true }, null, 'plain'],
  [{ 'forbid-caller-cv': true }, '2/2', 'bad-directive'],
  [{ ...floors, 'forbid-caller-cv': true }, null, '3/2'],
])('with %j and the headers %s: %s', (policy, requested, expected) => {
  expect(terms(policy, requested)).toBe(expected)
  if (policy !== null && requested === null)
    expect(buildPolicy({ ...entryOf, ...policy }).agreement > 0).toBe(expected !== 'plain')
})

test.each(['write', 'subscribe', 'local'])(
  'a %s has none, and its caller must not request it',
  (kind) => {
    expect([terms(floors, null, kind), terms(null, '2/2', kind)]).toEqual([
      'plain',
      'bad-directive',
    ])
  },
)
