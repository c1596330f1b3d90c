// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { Script, ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { TransportError } from '../upstream/wire.ts'
import { Journal, type Send } from './call.ts'
import { ethereum, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const ok = result('0x1')
const heavy = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0xffffff' }] }
const other = { method: 'eth_call', params: [{ to: `0x${'11'.repeat(20)}`, data: '0x' }, '0x1'] }

/** Nodes that answer all but one method. */
function fixture(names: string, answer: ScriptedAnswer): RelayFixture {
  const script: Script = ({ body }) =>
    Buffer.from(body as Uint8Array).includes(heavy.method) ? answer : ok
  const upstreams = [...names].map((name) => [name, { script }])
  return new RelayFixture(chain, iface, Object.fromEntries(upstreams))
}

async function isDisabled(relay: RelayFixture): Promise<boolean> {
  for (let each = 0; each < 20; each++) await relay.ask(heavy)
  return !relay.pool.hasEligible
}

describe.each<[string, ScriptedAnswer]>([
  ['has nodes drop the connection', { fault: 'reset' }],
  ['has them send a page', { body: '<h1>Oops</h1>' }],
  ['has them send half an answer', { fault: 'truncated' }],
  ['has them fail', { status: 500, body: 'oops' }],
])('a query that %s', (_, answer) => {
  it.each(['a', 'abc'])('disables no upstream twice: %s', async (names) => {
    const relay = fixture(names, answer)
    expect(await isDisabled(relay)).toBe(true)
    for (let each = 0; each < 200; each++) {
      expect((await relay.ask()).outcome).toBe(ok.body)
      for (let burst = 0; burst < 10; burst++) await relay.ask(heavy)
    }
    const [first] = names
    expect(relay.events.filter((each) => each === `${first}: eligible > disabled`)).toHaveLength(1)
  })
})

describe('an upstream that fails one method and answers others', () => {
  const broken: ScriptedAnswer = { fault: 'reset' }

  it('is disabled when another one fails as well', async () => {
    const relay = fixture('a', broken)
    expect(await isDisabled(relay)).toBe(true)
    await relay.ask()
    relay.transport('a').play(() => broken)
    expect(await isDisabled(relay)).toBe(false)
    for (let each = 0; each < 5; each++) await relay.ask(other)
    expect(relay.pool.hasEligible).toBe(false)
  })

  it('is not disabled by heavy queries of a method whose light ones are answered', async () => {
    const relay = fixture('a', broken)
    expect(await isDisabled(relay)).toBe(true)
    await relay.ask()
    relay
      .transport('a')
      .play(({ body }) =>
        Buffer.from(body as Uint8Array).includes('0xffffff') ? broken : result([]),
      )
    await relay.ask({ method: heavy.method, params: [{ fromBlock: '0x1', toBlock: '0x2' }] })
    expect(await isDisabled(relay)).toBe(false)
  })

  it('is judged by that method again when nothing was answered for a minute', async () => {
    const relay = fixture('a', broken)
    expect(await isDisabled(relay)).toBe(true)
    await relay.ask()
    await relay.clock.advance(60_000)
    expect(await isDisabled(relay)).toBe(true)
  })

  it('is disabled again by the method that brought it back', async () => {
    const relay = fixture('a', broken)
    expect(await isDisabled(relay)).toBe(true)
    relay.transport('a').play(() => result([]))
    await relay.ask(heavy)
    relay.transport('a').play(() => broken)
    expect(await isDisabled(relay)).toBe(true)
  })

  it('is disabled when it refuses connections, whatever was asked', async () => {
    const relay = fixture('a', broken)
    expect(await isDisabled(relay)).toBe(true)
    await relay.ask()
    relay.transport('a').play(() => ({ fault: 'refused' }))
    expect(await isDisabled(relay)).toBe(true)
  })

  it('is disabled by one method that had failed only once before', async () => {
    const relay = fixture('a', broken)
    await relay.ask(heavy)
    await relay.ask()
    expect(await isDisabled(relay)).toBe(true)
  })
})

describe('calls that shared a request', () => {
  it('sent it before the relay returned, since only what is sent by then is joined', async () => {
    const relay = new RelayFixture(chain, iface, { a: { script: () => ok } })
    const { call } = await relay.ask()
    const journal = new Journal(relay.clock.nowMs())
    const sent: unknown[] = []
    const send: Send = (url, request, signal) => {
      sent.push(request)
      return url.transport.send(request, signal)
    }
    const reply = relay.relay({ ...call, journal, shared: { send, others: 1 } })
    expect(sent).toEqual([call.request])
    await relay.clock.advance(1_000)
    await reply
  })

  const fault = () => new TransportError('reset', 'ECONNRESET')
  const one = fault()
  it.each([
    ['count once when it fails', () => one, true],
    ['would count each, had they failed one by one', fault, false],
  ])('%s', async (_, faultOf, isEligible) => {
    const relay = new RelayFixture(chain, iface, { a: { script: () => ok } }, { retryLimit: 0 })
    const { call } = await relay.ask()
    const shared = Array.from({ length: 20 }, () => {
      const journal = new Journal(relay.clock.nowMs())
      const send = () => Promise.reject(faultOf())
      return relay.relay({ ...call, journal, shared: { send, others: 19 } })
    })
    await Promise.allSettled(shared)
    expect(relay.pool.hasEligible).toBe(isEligible)
  })

  it.each([
    ['are waited for 20 ms longer for each of the others', 9, 1],
    ['get a hedge in the usual time where there is one other', 1, 2],
  ])('%s', async (_, others, attempts) => {
    const upstream = { script: () => ok }
    const relay = new RelayFixture(chain, iface, { a: upstream, b: upstream })
    const { call } = await relay.ask()
    const journal = new Journal(relay.clock.nowMs())
    const late = new Promise<never>((_resolve, reject) => {
      relay.clock.after(1_100, () => {
        reject(fault())
      })
    })
    const reply = relay.relay({ ...call, journal, shared: { send: () => late, others } })
    await relay.clock.advance(700)
    expect(journal.attempts).toHaveLength(attempts)
    await relay.clock.advance(1_000)
    await reply
  })
})
