// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { ethereum, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const refused = { fault: 'refused', afterMs: 1 } as const

describe('repeated attempts', () => {
  it('end after each upstream has refused two connections', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => refused },
      b: { script: () => refused },
    })
    const { outcome, tookMs } = await relay.ask()
    expect([outcome, relay.sent]).toEqual(['upstream-failed', { a: 2, b: 2 }])
    expect(tookMs).toBeLessThan(200)
  })

  it('begin 50 ms after the last one, which reaches a restarting node', async () => {
    const relay = new RelayFixture(chain, iface, { a: { script: () => refused } })
    const reply = relay.begin()
    await relay.clock.advance(40)
    relay.transport('a').play(() => result('0x1'))
    await relay.clock.advance(1_000)
    const starts = (await reply).call.journal.attempts.map(({ startedMs }) => startedMs)
    expect(starts).toEqual([0, 50])
  })

  it('count once per retry, regardless of failovers among URLs', async () => {
    const upstreams = { a: { script: () => refused, urls: [{}, {}] } }
    const relay = new RelayFixture(chain, iface, upstreams)
    const { call } = await relay.ask()
    const starts = call.journal.attempts.map(({ startedMs }) => startedMs)
    // The backoff starts at the attempt of the last URL.
    expect(starts).toEqual([0, 1, 51, 52])
  })

  it('do not wait while another upstream is untried or after a slow attempt', async () => {
    const slow = { fault: 'reset', afterMs: 300 } as const
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => refused },
      b: { script: () => slow },
    })
    const { call } = await relay.ask()
    const starts = call.journal.attempts.map(({ startedMs }) => startedMs)
    expect(starts.slice(0, 3)).toEqual([0, 1, 301])
  })

  it('end at the deadline or when the client disconnects', async () => {
    const upstreams = { a: { script: () => refused } }
    const short = new RelayFixture(chain, iface, upstreams, { processingTimeoutMs: 40 })
    const timedOut = await short.ask()
    expect([timedOut.outcome, timedOut.call.journal.attempts.length]).toEqual([
      'upstream-failed',
      1,
    ])

    const relay = new RelayFixture(chain, iface, upstreams)
    const client = new AbortController()
    const reply = relay.begin({ signal: client.signal })
    await relay.clock.advance(30)
    client.abort()
    expect((await reply).outcome).toBe('CallAborted')
    await relay.clock.advance(60_000)
    expect(relay.clock.pending).toBe(0)
  })
})

it('the cooldown after a Retry-After begins before the probe', async () => {
  const relay = new RelayFixture(chain, iface, { a: { script: () => result('0x1') } })
  await relay.ask()
  const upstream = relay.pool.upstreams[0]!
  const served: boolean[] = []
  upstream.requestProbe = () => served.push(upstream.serves([]))
  for (let each = 0; each < 4; each++)
    upstream.failed(upstream.urls[0]!, { reason: 'x', weight: 1 }, true)
  const status = 503
  relay.transport('a').play(() => ({ status, headers: ['retry-after', '5'], body: 'busy' }))
  await relay.ask()
  expect(served).toEqual([false])
})
