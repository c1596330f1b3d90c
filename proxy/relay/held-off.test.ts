// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { header } from '../upstream/wire.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const limited = (wait: string[] = []) => ({
  status: 429,
  headers: ['content-type', 'application/json', ...wait],
  body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"slow down"}}',
})
const ok = result('0x1')

describe('while whoever could answer is held off', () => {
  it.each([
    ['of its own accord', [], 33],
    ['for as long as it said', ['Retry-After', '7'], 7],
    ['for a second when it said "at once"', ['Retry-After', '0'], 2],
    ['for a second when its clock is slow', ['Retry-After', 'Thu, 01 Jan 1970 00:00:00 GMT'], 2],
  ])('a sole upstream, %s: the client gets its 429 and no call is made', async (_, wait, most) => {
    const relay = new RelayFixture(chain, iface, { a: { script: () => limited(wait) } })
    expect((await relay.ask()).incoming?.status).toBe(429)
    for (let each = 0; each < 5; each++) {
      const { incoming, upstream, outcome } = await relay.ask()
      expect([incoming?.status, upstream, outcome]).toEqual([429, 'a', limited().body])
      const headers = incoming?.headers ?? []
      expect(headers.filter((each) => /^retry-after$/i.test(each))).toHaveLength(1)
      const waitS = Number(header(headers, 'retry-after'))
      expect(waitS).toBeGreaterThan(0)
      expect(waitS).toBeLessThanOrEqual(most)
    }
    expect(relay.sent).toEqual({ a: 1 })
    relay.transport('a').play(() => ok)
    await relay.clock.advance(most * 1_000)
    expect((await relay.ask()).upstream).toBe('a')
  })

  it("a limit in a form of its own is nobody's failure, and the URL is left alone", async () => {
    const page = { body: '{"message":"API rate limit exceeded"}' }
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => page },
      b: { script: () => ok },
    })
    for (let each = 0; each < 20; each++) expect((await relay.ask()).upstream).toBe('b')
    expect(relay.sent).toEqual({ a: 1, b: 20 })
    expect(relay.events).toEqual([expect.stringMatching(/^a: held off/)])
  })

  it.each(['Retry-After', 'retry-after', 'RETRY-AFTER'])(
    'the time that is left is told once, whatever was written as %s',
    async (name) => {
      const relay = new RelayFixture(chain, iface, { a: { script: () => limited([name, '7']) } })
      await relay.ask()
      await relay.clock.advance(3_000)
      const headers = (await relay.ask()).incoming?.headers ?? []
      const told = headers.filter((_, at) => /^retry-after$/i.test(headers[at - 1] ?? ''))
      expect(told).toEqual(['4'])
    },
  )

  it('a client that comes back when it is told to is not too early', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => limited(['Retry-After', '7']) },
    })
    await relay.ask()
    await relay.clock.advance(1_500)
    const { incoming } = await relay.ask()
    expect(header(incoming!.headers, 'retry-after')).toBe('6')
  })

  const address = '0x52908400098527886E0F7030069857D2E4169EE7'
  const escaped = JSON.stringify(address).replace('529', '\\u0035\\u0032\\u0039').slice(1, -1)
  it.each([
    ['repeats nothing', 'slow down, 10 calls a second', 'slow down, 10 calls a second'],
    ['has a plain word of it', 'too many for latest', 'too many for latest'],
    ['repeats an address', `no more for ${address}`, 'no-upstream'],
    ['repeats it in other case', `no more for ${address.toLowerCase()}`, 'no-upstream'],
    ['repeats a part of it', `no more for ${address.slice(0, 12)}..`, 'no-upstream'],
    ['repeats it in escapes', `no more for ${escaped}`, 'no-upstream'],
    ['repeats it without its 0x', `no more for ${address.slice(2)}`, 'no-upstream'],
    ['repeats a short name', 'rate limit exceeded for account alice', 'no-upstream'],
    ['repeats it in capitals', 'rate limit exceeded for ALICE', 'no-upstream'],
    ['repeats a very short one', 'rate limit exceeded for Bob', 'no-upstream'],
    ['repeats a number', 'rate limit exceeded for user 4711', 'no-upstream'],
    ['has a part of a name in one of its words', 'malice, 10 calls a second', 'malice'],
    ['is very long', 'slow down '.repeat(2_000), 'no-upstream'],
  ])("a refusal that %s, of another client's call", async (_, words, outcome) => {
    const body = `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"${words}"}}`
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => ({ ...limited(), body }) },
    })
    const params = [address, 'latest', 'alice', { bob: 4711 }]
    const own = await relay.ask({ method: 'eth_getBalance', params })
    expect(own.outcome).toBe(body)
    const other = await relay.ask()
    expect(other.outcome).toContain(outcome)
    expect(relay.sent).toEqual({ a: 1 })
  })

  it('a refusal that repeats a call is told to who calls the same', async () => {
    const body = limited().body.replace('slow down', 'no eth_getBalance of alice')
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => ({ ...limited(), body }) },
    })
    const asked = { method: 'eth_getBalance', params: ['alice', 'latest'] }
    expect((await relay.ask(asked)).outcome).toBe(body)
    expect((await relay.ask(asked)).outcome).toBe(body)
    const tooLong = { ...asked, params: ['alice', 'latest', ' '.repeat(20_000)] }
    expect((await relay.ask(tooLong)).outcome).toBe('no-upstream')
    expect(relay.sent).toEqual({ a: 1 })
  })

  it("headers of another client's answer are not told, save for its type", async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => limited(['X-Request-For', 'them', 'Retry-After', '7']) },
    })
    await relay.ask()
    const { incoming } = await relay.ask()
    expect(incoming?.headers).toEqual(['content-type', 'application/json', 'Retry-After', '7'])
  })

  it('the one that comes back first has the word', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => limited(['Retry-After', '60']) },
      b: { script: () => limited(['Retry-After', '20']) },
    })
    await relay.ask()
    expect((await relay.ask()).upstream).toBe('b')
    expect(relay.sent).toEqual({ a: 1, b: 1 })
  })

  it('a quota is one with HTTP 200 as well, in the words of the node', async () => {
    const quota = nodeError(-32005, 'daily request count exceeded')
    const relay = new RelayFixture(chain, iface, { a: { script: () => quota } })
    await relay.ask()
    expect((await relay.ask()).outcome).toContain('daily request count exceeded')
    expect(relay.sent).toEqual({ a: 1 })
  })

  it('another that may be asked is asked, be it a disabled one', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => limited() },
      b: { script: () => ok },
    })
    expect((await relay.ask()).upstream).toBe('b')
    expect((await relay.ask()).upstream).toBe('b')
  })

  it('one that the client excluded has no say', async () => {
    const relay = new RelayFixture(chain, iface, { a: { script: () => limited() } })
    await relay.ask()
    const directives = { blockProviders: ['a'] }
    expect((await relay.ask({ directives })).outcome).toBe('no-upstream')
  })

  it('a call that failed otherwise keeps its own failure', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => limited() },
      b: { script: () => ({ fault: 'reset' }) },
    })
    await relay.ask()
    relay.transport('b').play(() => ({ fault: 'reset' }))
    expect((await relay.ask()).outcome).toBe('upstream-failed')
  })
})
