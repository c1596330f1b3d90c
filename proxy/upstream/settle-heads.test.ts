// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Verdict } from './block-dates.ts'
import type { Dispute } from './disputes.ts'
import { settleHeads } from './settle-heads.ts'
import { PoolFixture } from './testing/pool-fixture.ts'

const catalog = await loadCatalog([])
const wallMs = Date.parse('2026-01-01T00:00:00Z')

/** What is found out of a head far above another one, where one of them does not tell its dates. */
async function foundOut(
  id: string,
  silent: 'a' | 'b',
  silences = Infinity,
): Promise<readonly Verdict[] | null> {
  const iface = catalog.find(id)!.interfaces.get('jsonrpc')!
  const fixture = new PoolFixture('ab')
  const upstream = (name: string) => fixture.upstream(name)
  let told: readonly Verdict[] | null = []
  let left = silences
  const lower = [upstream('b')]
  const dispute: Dispute = { higher: upstream('a'), block: 1_000, lower, isOutvoted: false }
  upstream('a').sighted(1_000)
  upstream('b').sighted(500)
  await settleHeads(upstream('a'), {
    iface,
    pool: {
      pace: fixture.pool.pace,
      disputeOf: () => dispute,
      settled(_, verdicts) {
        told = verdicts
      },
    },
    clock: { nowMs: () => fixture.clock.nowMs(), wallMs: () => wallMs },
    ask: (url) =>
      Promise.resolve(
        url === upstream(silent).urls[0] && left-- > 0
          ? { kind: 'refused', why: 'an error' }
          : { kind: 'value', value: wallMs / 1_000, latencyMs: 1 },
      ),
  })
  return told
}

describe('one that does not say when its block was made', () => {
  it.each([
    ['has no such block, where every node can say', 'ETH1', 'a', ['refuted']],
    ['is no witness, where every node can say', 'ETH1', 'b', ['behind']],
    ['may be right, where slots are skipped', 'SLOTCHAIN', 'a', null],
    ['may be right as the lower one, where slots are skipped', 'SLOTCHAIN', 'b', null],
    ['may be right, where not every node has the method', 'BTC', 'a', null],
    ['may be right as the lower one, where not every node has the method', 'BTC', 'b', null],
  ] as const)('%s', async (_, id, silent, verdicts) => {
    expect(await foundOut(id, silent)).toEqual(verdicts)
  })

  it('is asked about the blocks below, of which one will do', async () => {
    expect(await foundOut('ETH1', 'b', 3)).toEqual(['refuted'])
  })
})
