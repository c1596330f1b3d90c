// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { FailureClass } from '../chain/failure-table.ts'
import type { CallEnd } from '../listener/listener.ts'
import { callersKinds, RelayError, errorKinds } from '../relay/errors.ts'
import type { Violation } from '../integrity/violation.ts'
import type { AttemptKind, AttemptRecord } from '../relay/call.ts'
import { aCall, aFailure, anAttempt, repliedBy } from './call.fixture.ts'
import { isFailure, outcomeOf } from './call-counters.ts'

const page = aFailure('http-unavailable')
const ofNode = { origin: 'node', weight: 0 } as const
const revert: FailureClass = { ...aFailure('execution-reverted'), ...ofNode, retry: false }
const unknown: FailureClass = { ...aFailure('method-not-found'), ...ofNode }
const pruned: FailureClass = { ...aFailure('pruned'), weight: 0, pruned: true }
const limited: FailureClass = { ...aFailure('rate-limited'), cooldown: true, weight: 0 }
const busy: FailureClass = { ...aFailure('work-queue-full'), weight: 0, busy: true }
const doubtful: FailureClass = { ...aFailure('unknown-error'), weight: 0, doubtful: true }
const known: FailureClass = { ...revert, name: 'already-known', transaction: 'known' }

type Made = readonly [
  upstream: string,
  result: AttemptRecord['result'],
  kind?: AttemptKind,
  more?: { violation?: Violation; missedBlock?: boolean },
]

const violated = { violation: { check: 'parent', detail: '' } } as const

/** The end of a call that shares the answer to another. */
const sharedBy = (refusal: FailureClass | null, status: number) =>
  ({ ...repliedBy('a', refusal, status), isShared: true }) as const

/** Every way a call can end: attempts, what the client got, the reported outcome. */
const endings: readonly (readonly [string, readonly Made[], CallEnd, string])[] = [
  ['an answer', [['a', 'answer']], repliedBy('a'), 'success'],
  [
    'an answer after a failure',
    [
      ['a', page],
      ['b', 'answer', 'retry'],
    ],
    repliedBy('b'),
    'success',
  ],
  [
    'an answer by another URL',
    [
      ['a', page],
      ['a', 'answer', 'failover'],
    ],
    repliedBy('a'),
    'success',
  ],
  [
    'an answer after its deadline, like that of a later attempt',
    [
      ['a', 'answer'],
      ['a', page, 'retry'],
    ],
    repliedBy('a'),
    'success',
  ],
  [
    'the first of two answers',
    [
      ['a', 'aborted'],
      ['b', 'answer', 'hedge'],
    ],
    repliedBy('b'),
    'success',
  ],
  [
    'an answer while other attempts are still running',
    [
      ['a', 'answer', 'broadcast'],
      ['b', null, 'broadcast'],
    ],
    repliedBy('a'),
    'success',
  ],
  ['an answer without an upstream', [], repliedBy('cache'), 'success'],
  ['an error that is the answer', [['a', 'node-error']], repliedBy('a', revert), 'node-error'],
  ['a page for want of a better answer', [['a', page]], repliedBy('a'), 'upstream-error'],
  [
    'an error of the node for want of a better answer',
    [['a', page]],
    repliedBy('a', page),
    'upstream-error',
  ],
  ['an error of the only node', [['a', unknown]], repliedBy('a', unknown), 'node-error'],
  [
    'an error on which all nodes agree',
    [
      ['a', unknown],
      ['b', pruned, 'retry'],
    ],
    repliedBy('b', pruned),
    'node-error',
  ],
  [
    'an error of one node, while another one fails',
    [
      ['a', unknown],
      ['b', page, 'retry'],
    ],
    repliedBy('a', unknown),
    'upstream-error',
  ],
  ['a page about the path of the client', [['a', unknown]], repliedBy('a'), 'node-error'],
  ['a busy node', [['a', busy]], repliedBy('a', busy, 503), 'upstream-error'],
  ['a page of a busy node', [['a', busy]], repliedBy('a', null, 503), 'upstream-error'],
  ['a busy node for a shared call', [], sharedBy(busy, 503), 'upstream-error'],
  ['a page for a shared call', [], sharedBy(null, 502), 'upstream-error'],
  ['a shared answer', [], sharedBy(null, 200), 'success'],
  ['an unknown error with 500', [['a', doubtful]], repliedBy('a', doubtful, 500), 'upstream-error'],
  ['a page for an unknown method', [['a', unknown]], repliedBy('a', null, 502), 'upstream-error'],
  ['a missing method with 501', [['a', unknown]], repliedBy('a', unknown, 501), 'node-error'],
  ['an error of the node with 500', [['a', pruned]], repliedBy('a', pruned, 500), 'node-error'],
  ['a revert with 500', [['a', 'node-error']], repliedBy('a', revert, 500), 'node-error'],
  ['a passed-on 429', [['a', limited]], repliedBy('a', limited), 'upstream-error'],
  [
    'a violation found while the answer streams',
    [['a', page, 'first', violated]],
    repliedBy('a'),
    'upstream-error',
  ],
  [
    'null for a block that no other upstream has either',
    [['a', 'answer', 'first', { missedBlock: true }]],
    repliedBy('a'),
    'success',
  ],
  ['an answer that broke off', [['a', page]], repliedBy('a'), 'upstream-error'],
  [
    'a transaction that its node already has',
    [['a', 'node-error', 'broadcast']],
    repliedBy('a'),
    'success',
  ],
  [
    'a transaction that the router does not know',
    [['a', 'node-error', 'broadcast']],
    repliedBy('a', known),
    'node-error',
  ],
  ['a subscription', [['a', 'answer']], { kind: 'subscription', isRefused: false }, 'success'],
  [
    'a refused subscription',
    [['a', 'answer']],
    { kind: 'subscription', isRefused: true },
    'node-error',
  ],
  ['a client that left', [['a', 'aborted']], { kind: 'abandoned' }, 'abandoned'],
  ...Object.values(errorKinds).map(
    (kind) =>
      [
        `the error ${kind.reason}`,
        [],
        { kind: 'error', error: new RelayError(kind, 'no') },
        callersKinds.has(kind) ? 'refused' : kind.reason,
      ] as const,
  ),
]

test.each(endings)('%s has the right outcome', (_case, made, end, outcome) => {
  const call = aCall()
  if ('isShared' in end)
    call.journal.cache = { verdict: 'coalesced', ageClass: 'latest', why: null }
  for (const [upstream, result, kind = 'first', more] of made)
    anAttempt(call, upstream, result, { kind, ...more })
  expect(outcomeOf(call, end)).toBe(outcome)
  expect(isFailure(outcome)).toBe(
    !['success', 'node-error', 'refused', 'abandoned'].includes(outcome),
  )
})

test('every error of the router blames either the caller or the service', () => {
  const reasons = new Set(Object.values(errorKinds).filter((each) => !callersKinds.has(each)))
  expect([...reasons].map(({ reason }) => reason)).toEqual([
    'no-upstream',
    'rate-limited',
    'overloaded',
    'breaker-open',
    'upstream-failed',
    'integrity',
    'no-agreement',
    'insufficient-responses',
    'diversity-unmet',
    'group-quorum-unmet',
    'insufficient-capacity',
    'insufficient-groups',
    'min-block',
    'timeout',
    'session-node',
    'session-store',
    'internal',
  ])
})
