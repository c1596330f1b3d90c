// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Load } from './load.ts'

/** What is reported within 20 s. @param lateMs how late each timer runs */
async function reported(lateMs: number, budget = { heldBytes: 0, maxBytes: 100 }) {
  const clock = new VirtualClock()
  const said = new Set<string>()
  const late = {
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.wallMs(),
    after: (delayMs: number, run: () => void) => clock.after(delayMs + lateMs, run),
  }
  const strained = (resource: string, how: string) => void said.add(`${resource}: ${how}`)
  const load = new Load(late, { strained }, budget)
  load.start()
  await clock.advance(20_000)
  load.stop()
  return [...said]
}

test('a router in good health reports nothing', async () => {
  expect(await reported(0)).toEqual([])
})

test('late timers show that it is short of CPU', async () => {
  const said = await reported(320)
  expect(said.length).toBeGreaterThan(0)
  for (const each of said) expect(each).toMatch(/^cpu: busy \d+ % of the time, timers 320 ms late$/)
})

test('a budget of bytes that is almost used up', async () => {
  const full = { heldBytes: 95, maxBytes: 100 }
  expect(await reported(0, full)).toEqual(['buffered-bytes: 95 of 100 are in use'])
})
