// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { compileFailures } from './compile-failures.ts'
import { failureFileSchema } from './schema.ts'
import type { FailureFile } from './schema.ts'

const folder = new URL('../../../specs/failures/', import.meta.url)
const files = readdirSync(folder).map((name) => ({
  name,
  file: failureFileSchema.parse(parse(readFileSync(new URL(name, folder), 'utf8'))),
}))
const tableOf = (name: string): FailureFile => {
  const found = files.find(({ file }) => file.failures === name)
  if (found === undefined) throw new Error(`no table ${name}`)
  return found.file
}
const common = tableOf('common')
const evm = compileFailures([tableOf('evm'), common])

describe.each(files)('$name', ({ name, file }) => {
  const table = compileFailures(file === common ? [common] : [file, common])

  it('is named like its file', () => {
    expect(`${file.failures}.yml`).toBe(name)
  })

  it('names each row once', () => {
    const names = [
      ...(file.transport ?? []),
      ...(file.http ?? []),
      ...(file['node-errors'] ?? []),
    ].map((row) => row.name)
    expect(names).toEqual([...new Set(names)])
  })

  const examples = (file['node-errors'] ?? []).flatMap((row) =>
    row.examples.map((example) => ({ row: row.name, ...example })),
  )
  test.each(examples)('$row: $from: $code $message', ({ row, code, status, message }) => {
    const matched = table.ofNodeError({ status: status ?? 200, code: code ?? null, message })
    expect(matched.name).toBe(row)
  })
})

describe('what follows from a transport fault', () => {
  test.each([
    ['refused', { retry: true, whose: 'upstream', weight: 2 }],
    ['unresolved', { retry: true, whose: 'upstream', weight: 2 }],
    ['tls', { retry: true, whose: 'upstream' }],
    ['reset', { retry: true, whose: 'upstream', weight: 1 }],
    ['truncated', { retry: true, whose: 'upstream', weight: 1 }],
    ['protocol', { retry: true, whose: 'upstream', weight: 1 }],
    ['timeout', { retry: true, whose: 'upstream', weight: 1 }],
    ['too-large', { retry: false, weight: 0 }],
    ['aborted', { retry: false, weight: 0 }],
    ['a fault of tomorrow', { retry: true, whose: 'upstream', name: 'unknown-fault' }],
  ])('%s', (fault, expected) => {
    expect(evm.ofTransport(fault)).toMatchObject(expected)
  })
})

describe('what follows from an answer that is not in the form of the interface', () => {
  test.each([
    [200, { name: 'malformed-answer', retry: true, whose: 'upstream', weight: 1 }],
    [301, { name: 'http-redirect', retry: true, whose: 'upstream' }],
    [400, { retry: false, whose: 'caller', weight: 0 }],
    [401, { retry: true, whose: 'upstream', weight: 1 }],
    [402, { retry: true, holdOff: true, weight: 0 }],
    [403, { retry: true, whose: 'upstream', weight: 1 }],
    [404, { retry: true, whose: 'upstream', weight: 1 }],
    [413, { whose: 'caller', retry: true, weight: 0 }],
    [429, { retry: true, holdOff: true, weight: 0 }],
    [500, { name: 'http-server-error', retry: true, whose: 'upstream', weight: 1 }],
    [502, { name: 'http-unavailable', retry: true, whose: 'upstream', weight: 1 }],
    [503, { name: 'http-unavailable', retry: true }],
    [504, { name: 'http-unavailable', retry: true }],
    [522, { name: 'http-origin-unreachable', retry: true }],
    [599, { name: 'http-server-error', retry: true }],
    [999, { name: 'malformed', retry: true }],
  ])('%i', (status, expected) => {
    expect(evm.ofStatus(status)).toMatchObject(expected)
  })
})

describe('what follows from an error in the form of the interface', () => {
  const answer = { whose: 'node', retry: false, holdOff: false, weight: 0 }
  const elsewhere = { retry: true, holdOff: false, weight: 0 }
  test.each([
    ['a revert', 200, 3, 'execution reverted: no', answer],
    ['a revert that quotes a rate limit', 200, 3, 'execution reverted: rate limit', answer],
    ['a revert with a status of 500', 500, 3, 'execution reverted', answer],
    ['a nonce', 200, -32000, 'nonce too low', answer],
    ['missing funds', 200, -32000, 'insufficient funds for transfer', answer],
    ['an error nobody knows', 200, -32000, 'the moon is in the wrong house', answer],
    ['an error without a code', 200, null, 'odd', answer],
    ['invalid params', 200, -32602, 'invalid params', { whose: 'caller', retry: false, weight: 0 }],
    ['an unknown method', 200, -32601, 'Method not found', { ...elsewhere, whose: 'node' }],
    ['missing state', 200, -32000, 'missing trie node 0xab', elsewhere],
    ['a block that is not there', 200, -32000, 'header not found', elsewhere],
    ['internal error', 200, -32603, 'Internal error', { retry: true, weight: 1 }],
    [
      'a limit told with 200',
      200,
      -32005,
      'daily request count exceeded',
      { retry: true, holdOff: true, weight: 0 },
    ],
    ['a status of 429', 429, -32000, 'no', { retry: true, holdOff: true, weight: 0 }],
    ['a status of 401', 401, 0, 'no', { retry: true, holdOff: false, weight: 1 }],
    ['a status of 500 with an error nobody knows', 500, -32000, 'what', answer],
  ])('%s', (_case, status, code, message, expected) => {
    expect(evm.ofNodeError({ status, code, message })).toMatchObject(expected)
  })

  it('looks at the beginning of a long message only', () => {
    const message = `${'x'.repeat(1_000_000)} rate limit`
    expect(evm.ofNodeError({ status: 200, code: -32000, message }).name).toBe('node-error')
  })
})

describe('a failure table refuses', () => {
  const row = { name: 'x', whose: 'node', examples: [{ message: 'm', from: 'test' }] }
  test.each([
    ['a pattern that is none', { ...row, message: ['('] }, 'is not a regular expression'],
    ['a repeated group', { ...row, message: ['(a+)+b'] }, 'must not repeat a group'],
    ['two unlimited repetitions', { ...row, message: ['a.*b.*c'] }, 'at most once'],
    ['a look-ahead', { ...row, message: ['a(?=b)'] }, 'no look-around'],
    ['a back reference', { ...row, message: ['(a)\\1'] }, 'no back reference'],
    ['a row that matches nothing', row, 'must match something'],
    ['a row without an example', { ...row, code: [1], examples: [] }, 'Too small'],
    ['a status of another kind', { ...row, status: ['6xx'] }, 'must be a status'],
    ['a code that is text', { ...row, code: ['1'] }, 'expected number'],
  ])('%s', (_case, nodeError, message) => {
    const checked = failureFileSchema.safeParse({ failures: 't', 'node-errors': [nodeError] })
    expect(JSON.stringify(checked.error?.issues)).toContain(message)
  })
})

describe('words that several rows could claim', () => {
  test.each([
    ['rate limit exceeded', 'rate-limited'],
    ['query rate limit exceeded', 'rate-limited'],
    ['exceeded the rate limit of eth_getLogs requests per second', 'rate-limited'],
    ['insufficient funds for gas * price + value', 'insufficient-funds'],
    ['execution reverted: insufficient funds', 'execution-reverted'],
    ['execution aborted (timeout = 5s)', 'node-timeout'],
    ['request timed out', 'node-timeout'],
  ])('%s', (message, expected) => {
    expect(evm.ofNodeError({ status: 200, code: -32000, message }).name).toBe(expected)
  })
})
