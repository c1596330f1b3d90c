// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallAborted } from '../relay/errors.ts'
import { Turns } from './turns.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('no more work goes on at once than may, each in its turn, whatever ends how', async () => {
  const ways = fc.constantFrom<'ends' | 'fails' | 'is taken back'>('ends', 'fails', 'is taken back')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(ways), async (atOnce, all) => {
      const turns = new Turns(atOnce)
      const begun: number[] = []
      const ends: (() => void)[] = []
      let going = 0
      const results = all.map((way, at) => {
        const gone = new AbortController()
        const taken = turns.take(gone.signal, async () => {
          begun.push(at)
          going += 1
          expect(going).toBeLessThanOrEqual(atOnce)
          await new Promise<void>((resolve) => ends.push(resolve))
          going -= 1
          if (way === 'fails') throw new Error('failed')
          return at
        })
        // What has its turn already goes on.
        if (way === 'is taken back') gone.abort()
        return taken
      })
      const outcomes = Promise.allSettled(results)
      for (let each = 0; each < all.length; each++) {
        await settled()
        ends.shift()?.()
      }
      for (const [at, outcome] of (await outcomes).entries()) {
        if (all[at] === 'fails') expect(outcome.status).toBe('rejected')
        if (all[at] === 'ends') expect(outcome).toEqual({ status: 'fulfilled', value: at })
        if (!begun.includes(at))
          expect(outcome).toEqual({ status: 'rejected', reason: expect.any(CallAborted) as Error })
      }
      expect(begun).toEqual(begun.toSorted((a, b) => a - b))
      expect(begun).toEqual(
        expect.arrayContaining([...all.keys()].filter((at) => all[at] !== 'is taken back')),
      )
      expect(going).toBe(0)
    }),
  )
})

test('work that was taken back before is not begun', async () => {
  const begin = () => Promise.reject(new Error('was begun'))
  await expect(new Turns(1).take(AbortSignal.abort(), begin)).rejects.toThrow(CallAborted)
})
