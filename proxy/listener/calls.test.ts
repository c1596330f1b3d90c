// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { MalformedAnswer } from '../relay/reply.ts'
import { TransportError } from '../upstream/wire.ts'
import { brokenOff } from './calls.ts'

test.each([
  ['a connection that broke', new TransportError('truncated', 'cut'), 'upstream-failed'],
  ['a malformed answer', new MalformedAnswer('JSON that ends early'), 'upstream-failed'],
  ['a defect of the router', new TypeError('x is undefined'), 'internal'],
])('a stream that ends with %s is reported as that', (_, cause, reason) => {
  const error = brokenOff(cause)
  expect(error.kind.reason).toBe(reason)
  expect(error.cause).toBe(cause)
})
