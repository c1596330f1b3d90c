// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { faultOf } from './wire-fault.ts'

const errorOf = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code }, syscall === undefined ? {} : { syscall })

// What was not sent may be sent again, a write as well.
test.each([
  ['no connection in time', errorOf('ETIMEDOUT', 'connect'), 'refused', false],
  ['a connection that went silent', errorOf('ETIMEDOUT', 'read'), 'reset', true],
  ['the same, without a word about where', errorOf('ETIMEDOUT'), 'reset', true],
  ['a connection that nobody takes', errorOf('ECONNREFUSED', 'connect'), 'refused', false],
  ['a connection that broke', errorOf('ECONNRESET', 'read'), 'reset', true],
  ['a pipe that broke', errorOf('EPIPE', 'write'), 'reset', true],
  ['a certificate', errorOf('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls', false],
  ['whatever else', errorOf('HPE_INVALID_CONSTANT'), 'protocol', true],
  [
    'several addresses, of which none takes it',
    new AggregateError([errorOf('ECONNREFUSED', 'connect')]),
    'refused',
    false,
  ],
  [
    'several addresses, of which none answers',
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
])('%s is said in words', (code, words) => {
  expect(faultOf(errorOf(code)).message).toBe(`TLS: ${words} (${code})`)
})

test('a connection that the router closes itself is no fault of the node', () => {
  expect(faultOf(errorOf('UND_ERR_DESTROYED')).fault).toBe('aborted')
})
