// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { someChain, someFacts, someUpstream } from '../console/facts.fixture.ts'
import type { Facts } from '../console/facts.ts'
import type { Line } from '../console/lines.ts'
import { createLivePage } from './live-page.ts'

interface Frame {
  readonly head: string
  readonly problems: number
  readonly lines: readonly Line[]
  readonly details: readonly (readonly [string, string])[]
}

/** @param isSlow it never takes what is written to it */
class Reader extends Writable {
  readonly frames: Frame[] = []
  readonly #isSlow: boolean
  constructor(isSlow = false) {
    super(isSlow ? { highWaterMark: 1 } : {})
    this.#isSlow = isSlow
  }
  override _write(text: Buffer, _encoding: string, done: () => void): void {
    this.frames.push(JSON.parse(String(text).replace(/^data: (.*)\n\n$/s, '$1')) as Frame)
    if (!this.#isSlow) done()
  }
  texts(at: number): string {
    return this.frames[at]?.lines.map(({ text }) => text).join('\n') ?? ''
  }
}

/** @param brokenAt which answer no frame can be made of */
function make(brokenAt = 0) {
  const clock = new VirtualClock()
  let asked = 0
  const errors: unknown[] = []
  const logger = { error: (text: string, more?: unknown) => void errors.push([text, more]) }
  const facts = async () => {
    asked += 1
    // No facts that a frame could be made of.
    if (asked === brokenAt) return {} as Facts
    if (asked === 4) throw new Error('no facts')
    const outcomes = { success: asked * 10 }
    return someFacts(asked, [someChain([someUpstream('node-a')], { outcomes })])
  }
  const page = createLivePage(facts, () => [], clock, 'pod-1', logger)
  return { clock, page, errors, asked: () => asked }
}

test('the policy of the page lets nothing run or be loaded but what stands in it', () => {
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

test('a frame a second goes to each reader, a slow one is left out, and without readers nothing is done', async () => {
  const { clock, page, asked } = make()
  const [first, slow] = [new Reader(), new Reader(true)]
  page.stream(first)
  page.stream(slow)
  expect(page.streams).toBe(2)
  await clock.advance(0)
  await clock.advance(2_000)
  expect(first.frames).toHaveLength(3)
  expect(slow.frames).toHaveLength(1)
  expect(first.frames[2]).toMatchObject({
    head: 'rpc-router 1.2.3 on pod-1, 03:00:03 UTC, rates of 2 s',
    problems: 0,
    details: [['ETH1 jsonrpc node-a', expect.stringContaining('eligible')]],
  })
  expect(first.texts(2)).toMatch(/\nETH1 jsonrpc +1\/1 +10\.0 /)
  await clock.advance(1_000)
  expect(first.texts(3)).toMatch(/^DOWN pod-1: Error: no facts/)
  slow.destroy()
  first.destroy()
  await clock.advance(10_000)
  expect(asked()).toBe(5)
  const next = new Reader()
  page.stream(next)
  await clock.advance(0)
  // Of what was before nothing is kept.
  expect(next.frames).toMatchObject([
    { head: 'rpc-router 1.2.3 on pod-1, 03:00:06 UTC, rates of 6 s' },
  ])
})

test('a frame that cannot be made ends its streams with a line in the log, and the next page is served', async () => {
  const { clock, page, errors } = make(6)
  const reader = new Reader()
  page.stream(reader)
  await clock.advance(0)
  await clock.advance(5_000)
  expect([reader.frames.length, reader.writableEnded, page.streams]).toEqual([5, true, 0])
  expect(errors).toMatchObject([
    ['the page cannot be kept up to date', { error: expect.any(Error) as Error }],
  ])
  const next = new Reader()
  page.stream(next)
  await clock.advance(1_000)
  expect([next.frames.length, next.writableEnded]).toEqual([2, false])
})
