// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { CallEnd } from '../listener/listener.ts'
import { errorKinds, RelayError } from '../relay/errors.ts'
import { createAccessLog } from './access-log.ts'
import { aCall, repliedBy } from './call.fixture.ts'
import { createLogger } from './log.ts'

function make(isOn: { now: boolean }) {
  const lines: object[] = []
  const destination = {
    write(line: string) {
      const { time: _, ...fields } = JSON.parse(line) as object & { time: string }
      lines.push(fields)
    },
  }
  const logger = createLogger({
    level: 'info',
    format: 'json',
    redact: (text) => text,
    destination,
  })
  return { lines, log: createAccessLog(logger, isOn) }
}

const client = { address: '203.0.113.7', userAgent: `viem\u009b${'x'.repeat(900)}`, path: '/' }
const who = { client: '203.0.113.7', path: '/', userAgent: `viem\ufffd${'x'.repeat(195)}` }
const head = { level: 'info', chain: 'ETH1', msg: 'access', ...who }
const timeout: CallEnd = { kind: 'error', error: new RelayError(errorKinds.timeout, 'late') }

test.each([
  [
    'jsonrpc',
    repliedBy('node-a'),
    { status: 200, outcome: 'success', upstream: 'node-a', bytes: 0 },
  ],
  ['jsonrpc', timeout, { status: 504, outcome: 'timeout' }],
  ['grpc', timeout, { status: 4, outcome: 'timeout' }],
  ['rest', timeout, { status: 504, outcome: 'timeout' }],
  ['jsonrpc', { kind: 'abandoned' }, { outcome: 'abandoned' }],
  ['jsonrpc', { kind: 'subscription', isRefused: false }, { status: 200, outcome: 'success' }],
] as const)('a call over %s that ended with %j', (apiInterface, end, expected) => {
  const { lines, log } = make({ now: true })
  log.listenerObserver('ETH1', apiInterface).callEnded({ ...aCall(), client }, end, 1.26)
  const about = { guid: 'guid-1', method: 'eth_call', durationMs: 1.3 }
  expect(lines).toEqual([{ ...head, interface: apiInterface, ...about, ...expected }])
})

test('a request that never became a call has a line too, without its path if that may be a key', () => {
  const isOn = { now: false }
  const { lines, log } = make(isOn)
  const { requestRefused, callEnded } = log.listenerObserver('ETH1', 'jsonrpc')
  const refuse = () =>
    requestRefused(new RelayError(errorKinds.noSuchPath, 'no'), 'g', {
      ...client,
      path: '/v3/5eCrEtKey0123456789',
    })
  refuse()
  callEnded(aCall(), timeout, 1)
  expect(lines).toEqual([])
  isOn.now = true
  refuse()
  const refused = { guid: 'g', status: 404, outcome: 'no-such-path' }
  expect(lines).toEqual([{ ...head, path: '/v3/*', interface: 'jsonrpc', ...refused }])
})
