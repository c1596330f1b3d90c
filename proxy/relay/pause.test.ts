// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { ethereum, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const refused = { fault: 'refused', afterMs: 1 } as const

describe('attempts that would repeat themselves', () => {
  it('are spread over seconds, so that a node that restarts is met again', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => refused },
      b: { script: () => refused },
    })
    const seen = relay.begin()
    await relay.clock.advance(1_000)
    relay.transport('b').play(() => result('0x1'))
    for (let each = 0; each < 500; each++) await relay.clock.advance(10)
    expect((await seen).upstream).toBe('b')
  })

  it('begin 50, 100, 200 and 400 ms after the last one', async () => {
    const relay = new RelayFixture(chain, iface, { a: { script: () => refused } })
    const { call, outcome } = await relay.ask()
    expect(outcome).toBe('upstream-failed')
    const starts = call.journal.attempts.map(({ startedMs }) => startedMs)
    const apart = starts.slice(1).map((at, index) => at - (starts[index] as number))
    expect(apart).toEqual([50, 100, 200, 400, 400, 400, 400, 400, 400])
  })

  it('count an upstream once for each turn, however many of its URLs were asked in it', async () => {
    const upstreams = { a: { script: () => refused, urls: [{}, {}] } }
    const relay = new RelayFixture(chain, iface, upstreams, { maxAttempts: 6 })
    const { call } = await relay.ask()
    const starts = call.journal.attempts.map(({ startedMs }) => startedMs)
    // The pause is counted from the last URL.
    expect(starts).toEqual([0, 1, 51, 52, 152, 153])
  })

  it('do not wait while somebody else is untried, nor after an attempt that took its time', async () => {
    const slow = { fault: 'reset', afterMs: 300 } as const
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => refused },
      b: { script: () => slow },
    })
    const { call } = await relay.ask()
    const starts = call.journal.attempts.map(({ startedMs }) => startedMs)
    expect(starts.slice(0, 3)).toEqual([0, 1, 301])
  })

  it('count the hedges that were made while they waited', async () => {
    const upstreams = { a: { script: () => result('0x1') }, b: { script: () => result('0x1') } }
    const relay = new RelayFixture(chain, iface, upstreams, { maxAttempts: 2 })
    // Until it is known that answers come at once, so that hedges are made soon.
    for (let each = 0; each < 50; each++) await relay.ask()
    for (const name of ['a', 'b']) relay.transport(name).play(() => refused)
    relay.pool.upstreams[1]?.urls[0]?.holdOff.begin(25)
    const { call } = await relay.ask()
    const made = call.journal.attempts.map(({ upstream, kind }) => `${upstream} ${kind}`)
    expect(made).toEqual(['a first', 'b hedge'])
  })

  it('end with the time of the call, and with its client', async () => {
    const upstreams = { a: { script: () => refused } }
    const short = new RelayFixture(chain, iface, upstreams, { processingTimeoutMs: 120 })
    const timedOut = await short.ask()
    expect([timedOut.outcome, timedOut.call.journal.attempts.length]).toEqual([
      'upstream-failed',
      2,
    ])

    const relay = new RelayFixture(chain, iface, upstreams)
    const client = new AbortController()
    const seen = relay.begin({ signal: client.signal })
    await relay.clock.advance(30)
    client.abort()
    expect((await seen).outcome).toBe('CallAborted')
    expect(relay.clock.pending).toBe(0)
  })
})
