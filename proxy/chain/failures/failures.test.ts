// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
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
  test.each(examples)('$row: $from: $code $message', ({ row, method, code, status, message }) => {
    const error = { status: status ?? 200, code: code ?? null, message }
    expect(table.ofNodeError(error, method).name).toBe(row)
  })
})

describe('consequences of a transport fault', () => {
  test.each([
    ['refused', { retry: true, origin: 'upstream', weight: 2 }],
    ['unresolved', { retry: true, origin: 'upstream', weight: 2 }],
    ['tls', { retry: true, origin: 'upstream' }],
    ['reset', { retry: true, origin: 'upstream', weight: 1 }],
    ['truncated', { retry: true, origin: 'upstream', weight: 1 }],
    ['protocol', { retry: true, origin: 'upstream', weight: 1 }],
    ['timeout', { retry: true, origin: 'upstream', weight: 1 }],
    ['too-large', { retry: false, weight: 0 }],
    ['declined', { retry: true, origin: 'node', weight: 0 }],
    ['unsendable', { retry: false, origin: 'caller', weight: 0 }],
    ['aborted', { retry: false, weight: 0 }],
  ] as const)('%s', (fault, expected) => {
    expect(evm.ofTransport(fault)).toMatchObject(expected)
  })
})

describe("consequences of an answer outside the interface's format", () => {
  test.each([
    [200, { name: 'malformed-answer', retry: true, origin: 'upstream', weight: 1 }],
    [301, { name: 'http-redirect', retry: true, origin: 'upstream' }],
    [401, { retry: true, origin: 'upstream', weight: 1 }],
    [402, { retry: true, cooldown: true, weight: 0 }],
    [403, { retry: true, origin: 'upstream', weight: 1 }],
    [404, { retry: true, origin: 'upstream', weight: 1 }],
    [405, { retry: true, origin: 'upstream', weight: 1 }],
    [413, { origin: 'caller', retry: true, weight: 0 }],
    [431, { origin: 'caller', retry: true, weight: 0 }],
    [418, { name: 'http-client-error', retry: true, origin: 'upstream', weight: 1 }],
    [451, { name: 'http-client-error', retry: true, origin: 'upstream', weight: 1 }],
    [429, { retry: true, cooldown: true, weight: 0 }],
    [500, { name: 'http-server-error', retry: true, origin: 'upstream', weight: 1 }],
    [502, { name: 'http-bad-gateway', retry: true, origin: 'upstream', weight: 1 }],
    [503, { name: 'http-unavailable', retry: true }],
    [504, { name: 'http-gateway-timeout', retry: true }],
    [522, { name: 'http-origin-unreachable', retry: true }],
    [599, { name: 'http-server-error', retry: true }],
    [999, { name: 'malformed', retry: true }],
  ])('%i', (status, expected) => {
    expect(evm.ofStatus(status)).toMatchObject(expected)
  })
})

describe('a limit that a gateway reports in its own format', () => {
  test.each([
    [200, '{"message":"API rate limit exceeded"}', 'rate-limited'],
    [200, '{"jsonrpc":"2.0","id":1,"error":"Too Many Requests"}', 'rate-limited'],
    [200, '<html><title>Slow down</title></html>', 'rate-limited'],
    [200, '{"status":"error","error":"monthly quota has been exceeded"}', 'quota-exceeded'],
    [403, '{"message":"API rate limit exceeded"}', 'rate-limited'],
    [429, 'no words that are known', 'http-rate-limited'],
    [200, '{"message":"hello"}', 'malformed-answer'],
    [200, '', 'malformed-answer'],
    [503, 'the rate limit service is down', 'http-unavailable'],
    [200, `${' '.repeat(2_000)}rate limit`, 'malformed-answer'],
  ])('HTTP %i, %s: %s', (status, page, name) => {
    expect(evm.ofPage(status, Buffer.from(page)).name).toBe(name)
  })
})

/** On JSON-RPC, the router itself composes the request. */
it.each([400, 406, 411, 414, 415, 416, 417, 422, 426])(
  'a page with HTTP %i is a failure of the upstream',
  (status) => {
    const expected = { name: 'http-bad-request', retry: true, origin: 'upstream', weight: 1 }
    expect(evm.ofStatus(status)).toMatchObject(expected)
  },
)

/** On REST, the client composes the request, so another upstream is tried and none is blamed. */
describe.each([400, 404, 405, 406, 411, 413, 414, 415, 416, 417, 422, 426, 431, 501])(
  'an unlisted error with HTTP %i, on REST',
  (status) => {
    it.each(['', 'no such thing here'])('saying "%s"', (message) => {
      const { retry, cooldown, weight, origin } = evm.ofNodeError({ status, code: null, message })
      expect([retry, cooldown, weight, origin]).toEqual([true, false, 0, 'node'])
    })
  },
)

describe("consequences of an error in the interface's format", () => {
  const blamed = { retry: true, cooldown: false, weight: 1 }
  const answer = { origin: 'node', retry: false, cooldown: false, weight: 0 }
  const elsewhere = { retry: true, cooldown: false, weight: 0 }
  const limit = { ...elsewhere, origin: 'node', doubtful: false }
  const limited = { retry: true, cooldown: true, weight: 0 }
  const ofAny = { ...elsewhere, doubtful: true }
  const doubt = { ...elsewhere, name: 'unknown-error', doubtful: true }
  test.each([
    ['a revert', 200, 3, 'execution reverted: no', answer],
    ['a revert that quotes a rate limit', 200, 3, 'execution reverted: rate limit', answer],
    ['a revert with a status of 500', 500, 3, 'execution reverted', ofAny],
    ['a mistake with a status of 500', 500, -32602, 'invalid params', ofAny],
    ['a nonce with a status of 500', 500, -32000, 'nonce too low', { transaction: 'used' }],
    ['a mistake with a status of 502', 502, -32602, 'invalid params', blamed],
    ['a revert with a status of 503', 503, 3, 'execution reverted', blamed],
    ['a nonce with a status of 504', 504, -32000, 'nonce too low', blamed],
    ['missing funds with a status of 402', 402, 3, 'insufficient funds for gas', limited],
    ['a mistake with a status of 429', 429, -32602, 'invalid params', limited],
    ['missing funds with a status of 403', 403, -32000, 'insufficient funds for gas', blamed],
    ['a mistake with a status of 501', 501, -32602, 'invalid params', limit],
    ['missing state with a status of 500', 500, -32000, 'missing trie node 0xab', elsewhere],
    ['a nonce', 200, -32000, 'nonce too low', answer],
    ['missing funds', 200, -32000, 'insufficient funds for transfer', answer],
    ['an unknown error', 200, -32000, 'the moon is in the wrong house', doubt],
    ['an error without a code', 200, null, 'odd', doubt],
    ['an error without words', 200, 0, '', doubt],
    ['an unknown error with HTTP 400', 400, -32000, 'tenant suspended', doubt],
    ['an unknown error with HTTP 418', 418, null, 'teapot', doubt],
    ['a 404 of a gateway', 404, null, 'no Route matched with those values', elsewhere],
    ['a node that cannot parse what the router parsed', 200, -32700, 'parse error', limit],
    ['a node that does not accept it as a request', 200, -32600, 'Invalid Request', limit],
    ['the same with a status of 400', 400, -32700, 'parse error', limit],
    ['the same with a status of 500', 500, -32700, 'parse error', limit],
    ['bad parameters with a status of 400', 400, -32602, 'invalid params', { retry: false }],
    ['a revert with a status of 400', 400, 3, 'execution reverted', answer],
    [
      'invalid params',
      200,
      -32602,
      'invalid params',
      { origin: 'caller', retry: false, weight: 0 },
    ],
    ['an unknown method', 200, -32601, 'Method not found', { ...elsewhere, origin: 'node' }],
    ['missing state', 200, -32000, 'missing trie node 0xab', elsewhere],
    ['a missing block', 200, -32000, 'header not found', elsewhere],
    ['internal error', 200, -32603, 'Internal error', { retry: true, weight: 1 }],
    [
      'a limit with HTTP 200',
      200,
      -32005,
      'daily request count exceeded',
      { retry: true, cooldown: true, weight: 0 },
    ],
    ['a status of 429', 429, -32000, 'no', { retry: true, cooldown: true, weight: 0 }],
    ['a status of 401', 401, 0, 'no', { retry: true, cooldown: false, weight: 1 }],
    [
      'an unknown error with HTTP 500',
      500,
      -32000,
      'what',
      { retry: true, weight: 1, doubtful: false },
    ],
    ['a connection that the gateway has not got', 200, -32000, 'connect ECONNREFUSED', blamed],
    ['a name that the gateway does not find', 200, -32000, 'lookup geth: no such host', blamed],
    ['a gateway that waited', 200, -32000, 'dial tcp 10.0.0.7:8545: i/o timeout', blamed],
    ['a gateway of gateways', 200, -32000, "Can't route your request to suitable", blamed],
    ['a failed fetch', 200, -32000, 'fetch failed', blamed],
    ['a database', 200, -32000, 'database is locked', blamed],
    ['a future block', 200, -32000, 'block is not yet available', elsewhere],
    [
      'history before a fork',
      200,
      -32801,
      'no historical RPC is available for this historical (pre-bedrock) execution request',
      elsewhere,
    ],
  ])('%s', (_case, status, code, message, expected) => {
    expect(evm.ofNodeError({ status, code, message })).toMatchObject(expected)
  })

  it.each([
    ['bitcoin', 500, -8, 'Block height negative'],
    ['bitcoin', 404, -5, 'Invalid address'],
    ['cosmos', 500, -32602, 'error converting json params to arguments'],
  ])('%s nodes return errors with HTTP %i', (family, status, code, message) => {
    const table = compileFailures([tableOf(family), common])
    const found = (at: number) => table.ofNodeError({ status: at, code, message })
    expect(found(status)).toEqual(found(200))
    expect([found(status).retry, found(status).doubtful]).toEqual([false, false])
    expect([found(502).retry, found(502).weight]).toEqual([true, 1])
  })

  it('reads only the beginning of a long message', () => {
    const message = `${'x'.repeat(1_000_000)} rate limit`
    expect(evm.ofNodeError({ status: 200, code: -32000, message }).name).toBe('unknown-error')
  })
})

describe('a failure table refuses', () => {
  const row = { name: 'x', origin: 'node', examples: [{ message: 'm', from: 'test' }] }
  test.each([
    ['a pattern that is none', { ...row, message: ['('] }, 'is not a regular expression'],
    ['a row that matches nothing', row, 'must match something'],
    ['a row without an example', { ...row, code: [1], examples: [] }, 'must have at least 1 item'],
    ['a status of another kind', { ...row, status: ['6xx'] }, 'must be a status'],
    ['a code that is text', { ...row, code: ['1'] }, 'must be a number, not text'],
    [
      'a row for some reads with an example without a method',
      { ...row, code: [1], 'only-for': ['heavy'] },
      'must have a `method` in each example',
    ],
  ])('%s', (_case, nodeError, message) => {
    const checked = failureFileSchema.safeParse({ failures: 't', 'node-errors': [nodeError] })
    expect(JSON.stringify(checked.error?.issues)).toContain(message)
  })
})

describe('messages that several rows could match', () => {
  test.each([
    ['rate limit exceeded', 'rate-limited'],
    ['query rate limit exceeded', 'rate-limited'],
    ['exceeded the rate limit of eth_getLogs requests per second', 'method-rate-limited'],
    ['insufficient funds for gas * price + value', 'insufficient-funds'],
    ['execution reverted: insufficient funds', 'execution-reverted'],
    ['execution aborted (timeout = 5s)', 'execution-timeout'],
    ['upstream request timeout: context deadline exceeded', 'gateway-failed'],
    ['backend timeout', 'gateway-failed'],
    ['request timed out', 'node-timeout'],
  ])('%s', (message, expected) => {
    expect(evm.ofNodeError({ status: 200, code: -32000, message }).name).toBe(expected)
  })
})

// A client may hide failure messages in a method name. They must not start a cooldown.
it('recognises a missing method by its code, whatever its name', () => {
  const echoes = [
    (method: string) => `the method ${method} does not exist/is not available`,
    (method: string) => `Method ${method} not found`,
    (method: string) => `Unsupported method: ${method}. See available methods`,
  ]
  const words = fc.oneof(
    fc.constantFrom('rate_limit', 'quota exceeded', 'unauthorized', 'header not found', 'revert'),
    fc.string({ maxLength: 200 }),
  )
  fc.assert(
    fc.property(words, fc.constantFrom(...echoes), (method, echo) => {
      const error = { status: 200, code: -32601, message: echo(method) }
      expect(evm.ofNodeError(error).name).toBe('method-not-found')
    }),
  )
})

// A contract's text or a caller's mistake may quote the error of a node. That quote is part of the
// answer, and every node would return the same.
describe('a message that only quotes the words of another row', () => {
  const revert = 'execution-reverted'
  test.each([
    ['evm', 3, 'execution reverted: missing trie node', revert],
    ['evm', 3, 'header not found', 'execution-reverted-code'],
    ['evm', -32000, 'execution reverted: quota exceeded', revert],
    ['evm', -32000, 'err: execution reverted: unauthorized (supplied gas 5)', revert],
    ['evm', -32000, 'failed with 5 gas: execution reverted: service unavailable', revert],
    ['evm', -32603, 'VM Exception while processing transaction: revert node is syncing', revert],
    ['evm', -32603, 'Error: Transaction reverted: too many requests', revert],
    ['evm', -32015, 'VM execution error: rate limit', revert],
    ['evm', -32602, 'invalid argument 0: unexpected EOF', 'malformed-argument'],
    ['evm', -32602, 'invalid argument 1: unknown block tag "pruned"', 'malformed-argument'],
    ['evm', -32602, 'missing value for required argument 0', 'malformed-argument'],
    [
      'evm',
      -32000,
      'invalid block range: from block 9 is greater than to block 5',
      'block-range-inverted',
    ],
    ['evm', -32000, 'fromBlock to toBlock range is greater than 10000', 'block-range-limit'],
    ['evm', -32000, 'query exceeds max block range 5000', 'block-range-limit'],
    ['evm', -32000, 'rlp: unexpected EOF', 'invalid-transaction'],
    ['evm', -32000, 'transaction already imported', 'already-known'],
    [
      'solana',
      -32002,
      'Transaction simulation failed: custom program error: rate limit',
      'simulation-failed',
    ],
    ['solana', -32602, 'Invalid param: too many requests in filter', 'invalid-param'],
    ['bitcoin', -26, 'dust, tx with dust output must be 0-fee', 'not-standard'],
    ['bitcoin', -27, 'Transaction already in block chain', 'already-known'],
    ['cosmos', 5, 'execute wasm contract failed: monthly quota exceeded', 'contract-failed'],
    ['cosmos', 2, 'query wasm contract failed: Unauthorized', 'contract-failed'],
    ['cosmos', 4, 'signature verification failed: unauthorized', 'unauthorized-signer'],
    ['aptos', null, 'Move abort in 0x1::m: E_RATE_LIMIT(0x1): too many requests', 'move-aborted'],
  ])('%s: %s %s', (family, code, message, expected) => {
    const table = compileFailures([tableOf(family), common])
    const status = family === 'aptos' ? 400 : 200
    const methods: Readonly<Record<string, string>> = {
      'invalid-transaction': 'eth_sendRawTransaction',
      'block-range-limit': 'eth_getLogs',
    }
    const method = methods[expected] ?? null
    const found = table.ofNodeError({ status, code, message }, method)
    expect(found.name).toBe(expected)
    expect([found.cooldown, found.weight]).toEqual([false, 0])
  })

  it.each(['evm', 'bitcoin', 'cosmos'])(
    '%s nodes have their own message for a known transaction',
    (family) => {
      const { 'node-errors': rows = [] } = tableOf(family)
      expect(rows.filter(({ transaction }) => transaction === 'known')).toHaveLength(1)
      expect(rows.filter(({ transaction }) => transaction === 'refused').length).toBeGreaterThan(1)
    },
  )
})

describe('consequences of an answer that fails a check', () => {
  test.each([
    ['violated', { retry: true, origin: 'upstream', weight: 1, reported: true }],
    ['doubted', { retry: true, origin: 'upstream', weight: 0, reported: false }],
    ['below-floor', { retry: true, origin: 'upstream', weight: 0, reported: false }],
  ] as const)('%s', (finding, expected) => {
    expect(evm.ofAnswer(finding)).toMatchObject(expected)
  })

  it('is reported like other answers that wrongly claim success', () => {
    const reported = [evm.ofStatus(200), evm.ofTransport('truncated'), evm.ofTransport('protocol')]
    expect(reported.map((each) => each.reported)).toEqual([true, true, true])
    const lacking = [evm.ofStatus(502), evm.ofTransport('reset'), evm.ofTransport('timeout')]
    expect(lacking.map((each) => each.reported)).toEqual([false, false, false])
  })
})

it('says of each limit what it limits', () => {
  const silent = files.flatMap(({ file }) =>
    [...(file.transport ?? []), ...(file.http ?? []), ...(file['node-errors'] ?? [])].filter(
      (row) => row.cooldown === true && row.limit === undefined,
    ),
  )
  expect(silent.map(({ name }) => name)).toEqual([])
  const own = { name: 'x', origin: 'upstream', cooldown: true, code: [1] }
  const examples = [{ message: 'm', from: 'test' }]
  const parsed = failureFileSchema.parse({ failures: 't', 'node-errors': [{ ...own, examples }] })
  const error = { status: 200, code: 1, message: '' }
  expect(compileFailures([parsed]).ofNodeError(error).limit).toBe('rate')
})

it('knows at least 150 failures', () => {
  const rows = files.flatMap(({ file }) => [
    ...(file.transport ?? []),
    ...(file.http ?? []),
    ...(file.answers ?? []),
    ...(file['node-errors'] ?? []),
  ])
  expect(rows.length).toBeGreaterThanOrEqual(150)
})
