// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { someChain, someFacts, someUpstream } from './facts.fixture.ts'
import type { Line } from './lines.ts'
import { createLivePage } from './live-page.ts'

interface Frame {
  readonly head: string
  readonly problems: number
  readonly lines: readonly Line[]
  readonly details: readonly (readonly [string, string])[]
}

function make() {
  const clock = new VirtualClock()
  let requests = 0
  const facts = async () => {
    requests += 1
    if (requests === 4) throw new Error('no facts')
    const outcomes = { success: requests * 10 }
    return someFacts(requests, [someChain([someUpstream('node-a')], { outcomes })])
  }
  const page = createLivePage(facts, clock, 'pod-1')
  /** The frames that one more open page receives. */
  const open = () => {
    const frames: Frame[] = []
    const stream = Readable.from(page.events()).on('error', () => {})
    stream.on('data', (text: string) => {
      frames.push(JSON.parse(text.replace(/^data: (.*)\n\n$/s, '$1')) as Frame)
    })
    return { frames, stream }
  }
  return { clock, page, open, requestCount: () => requests }
}

test("the page's policy allows only its inline content", () => {
  const { page } = make()
  const policy = page.headers['content-security-policy'] ?? ''
  for (const [tag, name] of [
    ['script', 'script-src'],
    ['style', 'style-src'],
  ] as const) {
    const parts = [...page.html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))]
    expect(parts).toHaveLength(1)
    const hash = createHash('sha256')
      .update(parts[0]?.[1] ?? '')
      .digest('base64')
    expect(policy).toContain(`${name} 'sha256-${hash}'`)
  }
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(page.html).not.toMatch(/\son\w+=|innerHTML|https?:\/\/(?!\$)|src=|href=/)
})

const texts = (frame: Frame | undefined) => frame?.lines.map(({ text }) => text).join('\n')
const head = (second: number, rates: number) =>
  `rpc-router on pod-1, 03:00:0${second} UTC, rates of ${rates} s`

test('one frame a second goes to all pages from the same facts, and no pages cost no work', async () => {
  const { clock, open, requestCount } = make()
  const [first, second] = [open(), open()]
  await clock.advance(0)
  await clock.advance(2_000)
  expect(first.frames.map((frame) => frame.head)).toEqual([head(1, 1), head(2, 2), head(3, 3)])
  expect(second.frames).toEqual(first.frames)
  const said = first.frames.map((frame) => texts(frame)?.split(/[.:]/)[0])
  expect(said).toEqual(Array(3).fill('Nothing is wrong'))
  expect(first.frames[2]).toMatchObject({
    problems: 0,
    details: [['ETH1 jsonrpc node-a', expect.stringContaining('eligible')]],
  })
  expect(texts(first.frames[2])).toMatch(/\nETH1 jsonrpc +1\/1 +10\.0 /)
  first.stream.destroy()
  second.stream.destroy()
  await clock.advance(10_000)
  // The last frame is the one in progress when the pages closed.
  expect(requestCount()).toBe(4)
})

test('a slow page receives nothing until it is ready', async () => {
  const { clock, page, requestCount } = make()
  const slow = page.events()
  await slow.next()
  await clock.advance(10_000)
  expect(requestCount()).toBe(1)
})

test('unavailable facts end the page, and the next page is served', async () => {
  const { clock, open } = make()
  const first = open()
  await clock.advance(0)
  await clock.advance(3_000)
  expect([first.frames.length, first.stream.errored]).toMatchObject([3, { message: 'no facts' }])
  await clock.advance(1_000)
  const next = open()
  await clock.advance(0)
  expect(next.frames).toMatchObject([{ head: head(5, 5) }])
})
