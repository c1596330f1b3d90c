// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Journal } from '../relay/call.ts'
import { errorKinds, RelayError } from '../relay/errors.ts'
import { aCall, aFailure, repliedBy } from './call.fixture.ts'
import { TopClients } from './top-clients.ts'

class Fixture {
  readonly clock = new VirtualClock()
  readonly clients = new TopClients(this.clock)
  readonly observer = this.clients.listenerObserver()
  readonly refused = new RelayError(errorKinds.methodDenied, 'denied')

  call(address: string, times = 1, end = repliedBy('node-a'), userAgent: string | null = null) {
    const client = { address, userAgent, path: '/' }
    const journal = new Journal(this.clock.nowMs() - 5)
    for (let at = 0; at < times; at += 1)
      this.observer.callEnded({ ...aCall(), client, journal }, end, 5)
  }

  get calls() {
    const { perMinute, clients } = this.clients.top().calls
    return [perMinute, ...clients.map((each) => `${each.address} ${each.perMinute}`)]
  }
}

test('clients are listed by calls, errors and refusals of the last minute', async () => {
  const fixture = new Fixture()
  const { refused, observer, clock } = fixture
  fixture.call('10.0.0.1', 30, repliedBy('node-a'), 'viem/2\u009b31m')
  fixture.call('10.0.0.2', 9)
  fixture.call('10.0.0.2', 2, { kind: 'error', error: refused })
  const reverted = aFailure('execution-reverted')
  fixture.call('10.0.0.2', 1, repliedBy('node-a', { ...reverted, weight: 0 }))
  observer.requestRefused(refused, 'g', { address: '10.0.0.3', userAgent: null, path: '/' })
  observer.requestRefused(refused, 'g', null)
  observer.callEnded(aCall(), repliedBy('node-a'), 5)
  expect(fixture.clients.top()).toEqual({
    calls: {
      perMinute: 42,
      clients: [
        { address: '10.0.0.1', userAgent: 'viem/2\ufffd31m', perMinute: 30 },
        { address: '10.0.0.2', userAgent: null, perMinute: 12 },
      ],
    },
    errors: {
      perMinute: 1,
      clients: [{ address: '10.0.0.2', userAgent: null, perMinute: 1 }],
    },
    refusals: {
      perMinute: 3,
      clients: [
        { address: '10.0.0.2', userAgent: null, perMinute: 2 },
        { address: '10.0.0.3', userAgent: null, perMinute: 1 },
      ],
    },
  })
  await clock.advance(60_000)
  fixture.call('10.0.0.2', 8)
  await clock.advance(30_000)
  // Half of the minute before still counts.
  expect(fixture.calls).toEqual([29, '10.0.0.1 15', '10.0.0.2 14'])
  await clock.advance(30_000)
  expect(fixture.calls).toEqual([8, '10.0.0.2 8'])
  await clock.advance(120_000)
  expect(fixture.calls).toEqual([0])
})

test('a flood of addresses hides no client with many calls, and names none with few', () => {
  const fixture = new Fixture()
  for (let at = 0; at < 10_000; at += 1) {
    fixture.call(`2001:db8::${at.toString(16)}`)
    if (at % 10 === 0) fixture.call('10.0.0.1')
  }
  const [total, first = '', ...others] = fixture.calls
  expect(total).toBe(11_000)
  expect(first).toMatch(/^10\.0\.0\.1 (9\d\d|1000)$/)
  for (const other of others) expect(other).toMatch(/ 1$/)
})

test('clients behind one address are told apart by their user agent', () => {
  const fixture = new Fixture()
  fixture.call('10.0.0.9', 5, repliedBy('node-a'), 'quiet/1')
  fixture.call('10.0.0.9', 90, repliedBy('node-a'), 'greedy/2')
  const { clients } = fixture.clients.top().calls
  expect(clients.map(({ userAgent, perMinute }) => `${userAgent} ${perMinute}`)).toEqual([
    'greedy/2 90',
    'quiet/1 5',
  ])
})
