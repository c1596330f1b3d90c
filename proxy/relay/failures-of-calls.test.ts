// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, vi } from 'vitest'
import type { Script, ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { TransportError } from '../upstream/wire.ts'
import { Journal } from './call.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const ok = result('0x1')
const heavy = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0xffffff' }] }
const odd = { method: 'eth_getProof', params: ['0x', [], 'latest'] }

/** Nodes that fail the calls of one client and answer all others. */
function fixture(names: string, answer: ScriptedAnswer): RelayFixture {
  const script: Script = ({ body }) => {
    const text = Buffer.from(body as Uint8Array).toString()
    return text.includes(heavy.method) || text.includes(odd.method) ? answer : ok
  }
  const upstreams = [...names].map((name) => [name, { script }])
  return new RelayFixture(chain, iface, Object.fromEntries(upstreams))
}

/** Sends this many failing calls of several methods. @returns whether every upstream is disabled */
async function isDisabled(relay: RelayFixture, calls = [heavy, odd]): Promise<boolean> {
  for (let each = 0; each < 10; each++) for (const call of calls) await relay.ask(call)
  return !relay.pool.hasEligible
}

describe.each<[string, ScriptedAnswer]>([
  ['make nodes drop the connection', { fault: 'reset' }],
  ['make nodes return a page', { body: '<h1>Oops</h1>' }],
  ['make nodes truncate the answer', { fault: 'truncated' }],
  ['make nodes return HTTP 500', { status: 500, body: 'oops' }],
  ['make nodes return an internal error', nodeError(-32603, 'Internal error')],
])('calls of one client that %s', (_, answer) => {
  it.each(['a', 'abc'])('disable no upstream that answers other calls: %s', async (names) => {
    const relay = fixture(names, answer)
    // Probes succeed.
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

describe('failing calls disable an upstream', () => {
  const broken: ScriptedAnswer = { fault: 'reset' }

  it.each([
    ['when a probe fails as well', 1, false],
    ['when a probe fails as well and no call has succeeded', 0, false],
    ['not while it answers probes', 1, true],
    ['not while it answers probes, even if no call has succeeded', 0, true],
    ['without confirmation if the chain has no probe', 1, null],
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

  it('only after its probe ends; until then it is tried last', async () => {
    const relay = fixture('a', broken)
    const [upstream] = relay.pool.upstreams
    upstream!.requestProbe = () => {}
    expect(await isDisabled(relay)).toBe(false)
    expect(upstream!.availability.isOnTrial).toBe(true)
    upstream!.failed(upstream!.urls[0]!, { reason: 'probe: reset', weight: 1 })
    expect(relay.pool.hasEligible).toBe(false)
  })

  it('when it refuses connections, regardless of the call', async () => {
    const relay = fixture('a', { fault: 'refused' })
    await relay.ask()
    expect(await isDisabled(relay)).toBe(true)
  })
})

describe('calls of one batch request', () => {
  const fault = () => new TransportError('reset', 'ECONNRESET')
  const one = fault()
  it.each([
    ['count once when the request fails', () => one, true],
    ['count separately when they fail one by one', fault, false],
  ])('%s', async (_, faultOf, isEligible) => {
    const relay = new RelayFixture(chain, iface, { a: { script: () => ok } }, { retryLimit: 0 })
    const { call } = await relay.ask()
    await relay.clock.advance(10_000)
    const [url] = relay.pool.upstreams[0]!.urls
    vi.spyOn(url!.transport, 'send').mockImplementation(() => Promise.reject(faultOf()))
    const calls = Array.from({ length: 20 }, () => {
      return relay.relay({ ...call, journal: new Journal(relay.clock.nowMs()) })
    })
    await Promise.allSettled(calls)
    expect(relay.pool.hasEligible).toBe(isEligible)
  })

  it.each([
    ['get 20 ms more per other item before a hedge', 9, 1],
    ['get a hedge at the usual time with one other item', 1, 2],
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
    for (const { urls } of relay.pool.upstreams)
      vi.spyOn(urls[0]!.transport, 'send').mockImplementationOnce(() => late)
    const batch = { token: { size: others + 1 }, id: Buffer.from('1') }
    const reply = relay.relay({ ...call, journal, request: { ...call.request, batch } })
    await relay.clock.advance(700)
    expect(journal.attempts).toHaveLength(attempts)
    await relay.clock.advance(1_000)
    await reply
  })
})
