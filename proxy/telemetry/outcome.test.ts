// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { FailureClass } from '../chain/failure-table.ts'
import type { CallEnd } from '../listener/listener.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Violation } from '../integrity/violation.ts'
import type { AttemptKind, AttemptRecord } from '../relay/call.ts'
import { aCall, aFailure, anAttempt, repliedBy } from './call.fixture.ts'
import { isFailure, outcomeOf } from './call-counters.ts'

const page = aFailure('http-unavailable')
const revert: FailureClass = { ...aFailure('execution-reverted'), origin: 'node', retry: false }
const limited: FailureClass = { ...aFailure('rate-limited'), holdOff: true, weight: 0 }
const known: FailureClass = { ...revert, name: 'already-known', transaction: 'known' }

type Made = readonly [
  upstream: string,
  result: AttemptRecord['result'],
  kind?: AttemptKind,
  more?: { violation?: Violation; missedBlock?: boolean },
]

const violated = { violation: { check: 'parent', detail: '' } } as const

/** Every way in which a call can end for its client: what was asked, what the client got, what is reported. */
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
    'an answer that came late, beside a later attempt that was late as well',
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
    'one that others still work at',
    [
      ['a', 'answer', 'broadcast'],
      ['b', null, 'broadcast'],
    ],
    repliedBy('a'),
    'success',
  ],
  ['an answer without an upstream', [], repliedBy('cache'), 'success'],
  ['the error that is the answer', [['a', 'node-error']], repliedBy('a', revert), 'node-error'],
  ['a page when nothing better came', [['a', page]], repliedBy('a'), 'upstream-error'],
  [
    'an error of the node when nothing better came',
    [['a', page]],
    repliedBy('a', page),
    'upstream-error',
  ],
  ['a 429 that was just given', [['a', limited]], repliedBy('a', limited), 'upstream-error'],
  [
    'a violation that shows while the answer passes',
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
  ['an answer that broke on its way', [['a', page]], repliedBy('a'), 'upstream-error'],
  [
    'a transaction that its node has already',
    [['a', 'node-error', 'broadcast']],
    repliedBy('a'),
    'success',
  ],
  [
    'one that the router does not know of',
    [['a', 'node-error', 'broadcast']],
    repliedBy('a', known),
    'node-error',
  ],
  ['a subscription', [['a', 'answer']], { kind: 'subscription', isRefused: false }, 'success'],
  ['a refused one', [['a', 'answer']], { kind: 'subscription', isRefused: true }, 'node-error'],
  ['a client that left', [['a', 'aborted']], { kind: 'abandoned' }, 'abandoned'],
  ...Object.values(errorKinds).map(
    (kind) =>
      [
        `the error ${kind.reason}`,
        [],
        { kind: 'error', error: new RelayError(kind, 'no') },
        kind.reason,
      ] as const,
  ),
]

test.each(endings)('%s is reported as what it is', (_case, made, end, outcome) => {
  const call = aCall()
  for (const [upstream, result, kind = 'first', more] of made)
    anAttempt(call, upstream, result, { kind, ...more })
  expect(outcomeOf(call, end)).toBe(outcome)
  expect(isFailure(outcome)).toBe(!['success', 'node-error', 'abandoned'].includes(outcome))
})
