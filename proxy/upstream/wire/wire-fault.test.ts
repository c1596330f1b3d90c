// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { faultOf } from './wire-fault.ts'

const errorOf = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code }, syscall === undefined ? {} : { syscall })

// A request that was not sent may be retried, even a write.
test.each([
  ['no connection in time', errorOf('ETIMEDOUT', 'connect'), 'refused', false],
  ['a connection that went silent', errorOf('ETIMEDOUT', 'read'), 'reset', true],
  ['the same, without a stage', errorOf('ETIMEDOUT'), 'reset', true],
  ['a refused connection', errorOf('ECONNREFUSED', 'connect'), 'refused', false],
  ['a broken connection', errorOf('ECONNRESET', 'read'), 'reset', true],
  ['a broken pipe', errorOf('EPIPE', 'write'), 'reset', true],
  ['a certificate', errorOf('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls', false],
  ['no file left', errorOf('EMFILE', 'connect'), 'exhausted', false],
  ['no port left', errorOf('EADDRNOTAVAIL', 'connect'), 'exhausted', false],
  ['no buffer left', errorOf('ENOBUFS', 'write'), 'exhausted', false],
  [
    'no IPv6, and a refused connection',
    new AggregateError([
      Object.assign(errorOf('EADDRNOTAVAIL', 'connect'), { address: '::1' }),
      errorOf('ECONNREFUSED', 'connect'),
    ]),
    'refused',
    false,
  ],
  ['any other code', errorOf('HPE_INVALID_CONSTANT'), 'protocol', true],
  [
    'several addresses, all of which refuse',
    new AggregateError([errorOf('ECONNREFUSED', 'connect')]),
    'refused',
    false,
  ],
  [
    'several addresses without an answer',
    new AggregateError([errorOf('ETIMEDOUT', 'connect'), errorOf('ECONNREFUSED', 'connect')]),
    'refused',
    false,
  ],
])('%s', (_, cause, fault, sent) => {
  expect(faultOf(cause)).toMatchObject({ fault, sent })
})

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the certificate is self-signed'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another name'],
  ['CERT_HAS_EXPIRED', 'the certificate has expired'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'the certificate is of an unknown authority'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the server does not speak TLS'],
  ['EPROTO', 'the server does not speak TLS'],
])('%s has a readable message', (code, words) => {
  expect(faultOf(errorOf(code)).message).toBe(`${words}, ${code}`)
})

test('a connection that the router closes itself is no fault of the node', () => {
  expect(faultOf(errorOf('UND_ERR_DESTROYED')).fault).toBe('aborted')
})
