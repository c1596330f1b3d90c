// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { placeOf, places, rankOf, type Place, type Standing } from './order.ts'

const fit: Standing = { tier: 'primary', isOnTrial: false, isTried: false, fitness: 'fit' }
const onTrial: Standing = { ...fit, isOnTrial: true }
const tried: Standing = { ...fit, isTried: true }
const triedOnTrial: Standing = { ...onTrial, isTried: true }
const behind: Standing = { ...fit, fitness: 'behind' }
const lacks: Standing = { ...fit, fitness: 'lacks' }
const backup = (standing: Standing): Standing => ({ ...standing, tier: 'backup' })

/** The first is asked before the second. */
const neighbours: readonly (readonly [Place, Standing, Place, Standing])[] = [
  ['untried primary', fit, 'untried backup', backup(fit)],
  ['untried backup', backup(fit), 'primary that may lack it', { ...fit, fitness: 'may-lack' }],
  [
    'primary that may lack it',
    { ...fit, fitness: 'may-lack' },
    'backup that may lack it',
    backup({ ...fit, fitness: 'may-lack' }),
  ],
  [
    'backup that may lack it',
    backup({ ...fit, fitness: 'may-lack' }),
    'untried primary on trial',
    onTrial,
  ],
  ['untried primary on trial', onTrial, 'untried backup on trial', backup(onTrial)],
  ['untried backup on trial', backup(onTrial), 'tried primary', tried],
  ['tried primary', tried, 'tried backup', backup(tried)],
  ['tried backup', backup(tried), 'primary behind', behind],
  ['primary behind', behind, 'backup behind', backup(behind)],
  ['backup behind', backup(behind), 'tried primary on trial', triedOnTrial],
  ['tried primary on trial', triedOnTrial, 'tried backup on trial', backup(triedOnTrial)],
  [
    'tried backup on trial',
    backup(triedOnTrial),
    'primary behind on trial',
    { ...behind, isOnTrial: true },
  ],
  [
    'primary behind on trial',
    { ...onTrial, fitness: 'may-lack' },
    'backup behind on trial',
    backup({ ...behind, isOnTrial: true }),
  ],
  [
    'backup behind on trial',
    backup({ ...behind, isOnTrial: true }),
    'tried primary behind',
    { ...tried, fitness: 'may-lack' },
  ],
  [
    'tried primary behind',
    { ...behind, isTried: true },
    'tried backup behind',
    backup({ ...behind, isTried: true }),
  ],
  [
    'tried backup behind',
    backup({ ...behind, isTried: true }),
    'tried primary behind on trial',
    { ...triedOnTrial, fitness: 'behind' },
  ],
  [
    'tried primary behind on trial',
    { ...triedOnTrial, fitness: 'behind' },
    'tried backup behind on trial',
    backup({ ...triedOnTrial, fitness: 'behind' }),
  ],
  [
    'tried backup behind on trial',
    backup({ ...triedOnTrial, fitness: 'behind' }),
    'primary without the block',
    lacks,
  ],
  ['primary without the block', lacks, 'backup without the block', backup(lacks)],
  [
    'backup without the block',
    backup(lacks),
    'primary without the block on trial',
    { ...lacks, isOnTrial: true },
  ],
  [
    'primary without the block on trial',
    { ...lacks, isOnTrial: true },
    'backup without the block on trial',
    backup({ ...lacks, isOnTrial: true }),
  ],
  [
    'backup without the block on trial',
    backup({ ...lacks, isOnTrial: true }),
    'tried primary without the block',
    { ...lacks, isTried: true },
  ],
  [
    'tried primary without the block',
    { ...lacks, isTried: true },
    'tried backup without the block',
    backup({ ...lacks, isTried: true }),
  ],
  [
    'tried backup without the block',
    backup({ ...lacks, isTried: true }),
    'tried primary without the block on trial',
    { ...triedOnTrial, fitness: 'lacks' },
  ],
  [
    'tried primary without the block on trial',
    { ...triedOnTrial, fitness: 'lacks' },
    'tried backup without the block on trial',
    backup({ ...triedOnTrial, fitness: 'lacks' }),
  ],
]

describe('the order', () => {
  it.each(neighbours)('asks an upstream at a time: %s', (place, standing, nextPlace, next) => {
    expect([placeOf(standing), placeOf(next)]).toEqual([place, nextPlace])
    expect(rankOf(next) - rankOf(standing)).toBe(1)
  })

  it('has a row here for every place', () => {
    const first = neighbours.map(([place]) => place)
    expect([...first, neighbours.at(-1)?.[2]]).toEqual([...places])
  })
})
