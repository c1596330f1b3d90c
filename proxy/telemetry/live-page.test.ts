// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { someChain, someFacts, someUpstream } from '../console/facts.fixture.ts'
import type { Facts } from '../console/facts.ts'
import type { View } from '../console/view.ts'
import { LivePage } from './live-page.ts'

class Reader extends EventEmitter {
  readonly views: View[] = []
  writableNeedDrain = false
  ended = 0
  end(): void {
    this.ended += 1
  }
  write(text: string): void {
    this.views.push(JSON.parse(text.replace(/^data: (.*)\n\n$/s, '$1')) as View)
  }
}

/** @param brokenAt which answer no view can be made of */
function make(brokenAt = 0) {
  const clock = new VirtualClock()
  let asked = 0
  const errors: unknown[] = []
  const logger = { error: (text: string, more?: unknown) => void errors.push([text, more]) }
  const facts = async () => {
    asked += 1
    // No facts that a view could be made of.
    if (asked === brokenAt) return {} as Facts
    if (asked === 4) throw new Error('no facts')
    const outcomes = { success: asked * 10 }
    return someFacts(asked, [someChain([someUpstream('node-a')], { outcomes })])
  }
  const page = new LivePage(facts, clock, 'pod-1', logger)
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

test('a view a second goes to each reader, a slow one is left out, and without readers nothing is done', async () => {
  const { clock, page, asked } = make()
  const [first, slow] = [new Reader(), new Reader()]
  page.stream(first)
  page.stream(slow)
  expect(page.streams).toBe(2)
  await clock.advance(0)
  slow.writableNeedDrain = true
  await clock.advance(2_000)
  expect(first.views).toHaveLength(3)
  expect(slow.views).toHaveLength(1)
  expect(first.views[2]).toMatchObject({
    replicas: [{ at: 'pod-1', problem: null }],
    chains: [{ perSecond: 10 }],
  })
  await clock.advance(1_000)
  expect(first.views[3]?.problems).toMatchObject([{ what: 'Error: no facts' }])
  slow.emit('close')
  first.emit('close')
  await clock.advance(10_000)
  expect(asked()).toBe(5)
  const next = new Reader()
  page.stream(next)
  await clock.advance(0)
  // Of what was before nothing is kept.
  expect(next.views).toMatchObject([{ seconds: 6 }])
})

test('a view that cannot be made ends its streams with a line in the log, and the next page is served', async () => {
  const { clock, page, errors } = make(6)
  const reader = new Reader()
  page.stream(reader)
  await clock.advance(0)
  await clock.advance(5_000)
  expect([reader.views.length, reader.ended, page.streams]).toEqual([5, 1, 0])
  expect(errors).toMatchObject([
    ['the page cannot be kept up to date', { error: expect.any(Error) as Error }],
  ])
  const next = new Reader()
  page.stream(next)
  await clock.advance(1_000)
  expect([next.views.length, next.ended]).toEqual([2, 0])
})
