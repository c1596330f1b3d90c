// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { Script, ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { TransportError } from '../upstream/wire.ts'
import { Journal, type Send } from './call.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const ok = result('0x1')
const heavy = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0xffffff' }] }
const odd = { method: 'eth_getProof', params: ['0x', [], 'latest'] }

/** Nodes that answer all but what one client sends. */
function fixture(names: string, answer: ScriptedAnswer): RelayFixture {
  const script: Script = ({ body }) => {
    const text = Buffer.from(body as Uint8Array).toString()
    return text.includes(heavy.method) || text.includes(odd.method) ? answer : ok
  }
  const upstreams = [...names].map((name) => [name, { script }])
  return new RelayFixture(chain, iface, Object.fromEntries(upstreams))
}

/** Whether so many calls that fail, of several methods, one after another, disable every upstream. */
async function isDisabled(relay: RelayFixture, calls = [heavy, odd]): Promise<boolean> {
  for (let each = 0; each < 10; each++) for (const call of calls) await relay.ask(call)
  return !relay.pool.hasEligible
}

describe.each<[string, ScriptedAnswer]>([
  ['have nodes drop the connection', { fault: 'reset' }],
  ['have them send a page', { body: '<h1>Oops</h1>' }],
  ['have them send half an answer', { fault: 'truncated' }],
  ['have them fail', { status: 500, body: 'oops' }],
  ['have them fail in the form of the interface', nodeError(-32603, 'Internal error')],
])('calls of one client that %s', (_, answer) => {
  it.each(['a', 'abc'])('disable no upstream that answers others: %s', async (names) => {
    const relay = fixture(names, answer)
    // A probe is answered.
    for (const each of relay.pool.upstreams) each.requestProbe = () => each.availability.succeeded()
    for (let each = 0; each < names.length; each++) await relay.ask()
    for (let each = 0; each < 50; each++) {
      expect(await isDisabled(relay)).toBe(false)
      expect((await relay.ask()).outcome).toBe(ok.body)
      await relay.ask()
      await relay.ask()
    }
    expect(relay.events).toEqual([])
  })
})

describe('an upstream is disabled by calls', () => {
  const broken: ScriptedAnswer = { fault: 'reset' }

  it.each([
    ['when a probe fails as well', 1, false],
    ['when a probe fails as well, and it has answered no call', 0, false],
    ['not while it answers probes', 1, true],
    ['not while it answers probes, though it has answered no call', 0, true],
    ['alone, where there is no probe', 1, null],
  ])('%s', async (_, answers, probeIsAnswered) => {
    const relay = fixture('a', broken)
    const [upstream] = relay.pool.upstreams
    const { availability } = upstream!
    if (probeIsAnswered) upstream!.requestProbe = () => availability.succeeded()
    if (probeIsAnswered === false) upstream!.requestProbe = () => availability.failed(1, 'probe')
    for (let each = 0; each < answers; each++) await relay.ask()
    await relay.clock.advance(60_000)
    expect(await isDisabled(relay, [heavy])).toBe(!probeIsAnswered)
  })

  it('not before its probe has ended, until when it is asked last', async () => {
    const relay = fixture('a', broken)
    const [upstream] = relay.pool.upstreams
    upstream!.requestProbe = () => {}
    expect(await isDisabled(relay)).toBe(false)
    expect(upstream!.availability.isOnTrial).toBe(true)
    upstream!.failed(upstream!.urls[0]!, { name: 'probe: reset', weight: 1 })
    expect(relay.pool.hasEligible).toBe(false)
  })

  it('when it refuses connections, whatever was asked', async () => {
    const relay = fixture('a', { fault: 'refused' })
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
    await relay.clock.advance(10_000)
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
