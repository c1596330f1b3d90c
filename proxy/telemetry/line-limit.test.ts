// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { lineLimits, type LogFields } from './log.ts'

test('in any order of events, each line is written or counted, and no window exceeds the limit', async () => {
  const rate = { lines: 3, perMs: 1_000 }
  const bursts = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 2_500 }), fc.integer({ min: 1, max: 9 })),
  )
  await fc.assert(
    fc.asyncProperty(bursts, async (all) => {
      const clock = new VirtualClock()
      let suppressed = 0
      const written: number[] = []
      const count = (_message: string, fields?: LogFields) =>
        (suppressed += Number(fields?.['suppressed']))
      const logger = { debug: count, info: count, warn: count, error: count }
      const take = lineLimits(logger, clock, {})(rate, 'warn', 'lines')
      for (const [waitMs, lines] of all) {
        await clock.advance(waitMs)
        for (let line = 0; line < lines; line += 1) if (take()) written.push(clock.nowMs())
      }
      await clock.advance(rate.perMs)
      expect(clock.pending).toBe(0)
      expect(written.length + suppressed).toBe(all.reduce((sum, [, lines]) => sum + lines, 0))
      // A span as long as a window can overlap two windows, so it has at most the lines of both.
      for (const fromMs of written) {
        const span = written.filter((atMs) => atMs >= fromMs && atMs < fromMs + rate.perMs)
        expect(span.length).toBeLessThanOrEqual(2 * rate.lines)
      }
    }),
    { numRuns: 100 },
  )
})
