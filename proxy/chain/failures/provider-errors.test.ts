// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import type { FailureClass } from '../failure-table.ts'

const file = new URL('../testdata/provider-errors.txt', import.meta.url)
const rows = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' | '))
const catalog = await loadCatalog([])
const chains: Readonly<Record<string, string>> = {
  evm: 'ETH1',
  solana: 'SLOTCHAIN',
  bitcoin: 'BTC',
  cosmos: 'HUBCHAIN',
  aptos: 'MOVECHAIN',
}

/** The verdict in one word, as the file explains it. */
function verdictOf(failure: FailureClass): string {
  const { cooldown, limit, origin, retry, weight, busy, retryAfterMs } = failure
  if (busy) return 'busy'
  if (cooldown && limit !== null)
    return retryAfterMs === undefined ? limit : `${limit} ${retryAfterMs}`
  if (!retry) return origin === 'caller' ? 'mistake' : 'answer'
  if (origin !== 'upstream') return 'elsewhere'
  return weight > 0 ? 'fault' : 'lacks'
}

test.each(rows)(
  '%s | %s | %s | %s | %s: %s | %s',
  (_, family, method, status, code, verdict, ...message) => {
    const { failures } = catalog.find(chains[family ?? ''] ?? '')!
    const error = {
      status: Number(status),
      code: code === '-' ? null : Number(code),
      message: message.join(' | '),
    }
    const found = failures.ofNodeError(error, method)
    expect([verdictOf(found), found.doubtful], found.name).toEqual([verdict, false])
  },
)

it('has at least 150 errors', () => {
  expect(rows.length).toBeGreaterThanOrEqual(150)
})

// The chain's own table, since Bitcoin Core reports a full queue as a page.
test.each([
  ['BTC', 503, 'Work queue depth exceeded', 'busy'],
  ['BTC', 503, 'Service Unavailable', 'fault'],
  ['ETH1', 503, 'Work queue depth exceeded', 'fault'],
  ['ETH1', 429, '<html>error code: 1015</html>', 'rate'],
  ['ETH1', 402, 'upgrade', 'quota'],
  ['ETH1', 200, '{"error":"Too many requests, retry in 3s"}', 'rate 3000'],
  ['SLOTCHAIN', 429, 'Too many requests for a specific RPC call', 'call'],
  ['ETH1', 403, '{"message":"monthly quota exceeded"}', 'quota'],
])('%s, a page with HTTP %i, %s: %s', (chain, status, page, verdict) => {
  const { failures } = catalog.find(chain)!
  expect(verdictOf(failures.ofPage(status, Buffer.from(page)))).toBe(verdict)
})

// Infura's form: the wait is in the data of the error.
test.each([
  ['{"rate":{"allowed_rps":1,"backoff_seconds":2,"current_rps":1.4}}', 2_000],
  ['{"rate":{"backoff_seconds":0.5}}', 500],
  ['{"retry_after_ms":750}', 750],
  ['{"retryAfter":"3"}', 3_000],
  ['{"see":"https://infura.io/dashboard"}', undefined],
])('the data %s says to wait %s ms', (details, waitMs) => {
  const { failures } = catalog.find('ETH1')!
  const error = { status: 200, code: -32_005, message: 'project ID request rate exceeded', details }
  expect(failures.ofNodeError(error, 'eth_getBalance').retryAfterMs).toBe(waitMs)
  const other = { ...error, code: 3, message: 'execution reverted' }
  expect(failures.ofNodeError(other, 'eth_call').retryAfterMs).toBeUndefined()
})
