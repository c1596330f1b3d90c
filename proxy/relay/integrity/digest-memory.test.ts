// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { DigestMemory } from './digest-memory.ts'

type Told = readonly [teller: string, form: string, hash: string, digest: string | null]

/** The verdict on the last of what is told. */
function last(...told: readonly Told[]) {
  const memory = new DigestMemory()
  return told.map((each) => memory.hear(...each)).at(-1)
}

const proof: Told = ['x', 'now', 'h1', 'h1']
const lie: Told = ['liar', 'now', 'h2', 'no']

describe('what does not make its hash', () => {
  test.each<[string, string, readonly Told[]]>([
    ['is doubted where nobody has shown what does', 'doubted', [lie]],
    ['is doubted however often the same one tells it', 'doubted', [lie, lie, lie]],
    ['is a lie where somebody has', 'contradicted', [proof, lie]],
    ['is a lie where the liar has', 'contradicted', [['liar', 'now', 'h1', 'h1'], lie]],
    ['is doubted in the form of another fork', 'doubted', [proof, ['x', 'next', 'h2', 'no']]],
    [
      'is a lie in whatever form where its own hash was shown',
      'contradicted',
      [
        ['x', 'now', 'h2', 'h2'],
        ['liar', 'next', 'h2', 'no'],
      ],
    ],
    [
      'is believed when two tell the same on a chain of other hashes',
      'fits',
      [lie, ['y', 'now', 'h2', 'no']],
    ],
    [
      'is believed from then on, on that chain',
      'fits',
      [lie, ['y', 'now', 'h2', 'no'], ['z', 'now', 'h3', 'other']],
    ],
    [
      'is doubted there where others told something else',
      'doubted',
      [lie, ['y', 'now', 'h2', 'no'], ['z', 'now', 'h2', 'else']],
    ],
    ['is doubted where two contradict each other', 'doubted', [lie, ['y', 'now', 'h2', 'else']]],
    [
      'is a lie even of two where the form is proven',
      'contradicted',
      [proof, lie, ['y', 'now', 'h2', 'no']],
    ],
    [
      'is believed of three: a fork may have added what nobody shows',
      'fits',
      [proof, lie, ['y', 'now', 'h2', 'no'], ['z', 'now', 'h2', 'no']],
    ],
    [
      'is believed from then on, also where something else was proven before',
      'fits',
      [proof, lie, ['y', 'now', 'h2', 'no'], ['z', 'now', 'h2', 'no'], ['z', 'now', 'h3', 'other']],
    ],
    [
      'is doubted of two whom two contradict',
      'doubted',
      [['a', 'now', 'h2', 'else'], ['b', 'now', 'h2', 'else'], lie, ['y', 'now', 'h2', 'no']],
    ],
    [
      'is believed of three whom two contradict',
      'fits',
      [
        ...[['a', 'now', 'h2', 'else'] as const, ['b', 'now', 'h2', 'else'] as const, lie],
        ...[['y', 'now', 'h2', 'no'] as const, ['z', 'now', 'h2', 'no'] as const],
      ],
    ],
    [
      'is doubted again after somebody has shown what does, though that is forgotten',
      'doubted',
      [
        ...[lie, ['y', 'now', 'h2', 'no'] as const, proof],
        ...Array.from({ length: 64 }, (_, at): Told => ['x', `form ${at}`, `p${at}`, `p${at}`]),
        ['z', 'now', 'h3', 'other'],
      ],
    ],
    [
      'is a lie of three where the hash was shown',
      'contradicted',
      [['x', 'now', 'h2', 'h2'], lie, ['y', 'now', 'h2', 'no'], ['z', 'now', 'h2', 'no']],
    ],
    [
      'is a lie again when somebody shows what does',
      'contradicted',
      [lie, ['y', 'now', 'h2', 'no'], proof, ['z', 'now', 'h3', 'no']],
    ],
  ])('%s: %s', (_case, verdict, told) => {
    expect(last(...told)).toBe(verdict)
  })
})

describe('an answer that leaves out what its hash is made from', () => {
  const short: Told = ['liar', 'now', 'h2', null]
  test.each<[string, string, readonly Told[]]>([
    ['is believed where nobody shows it', 'fits', [short]],
    ['is doubted where somebody does', 'doubted', [proof, short]],
    ['is believed of two', 'fits', [proof, short, ['y', 'now', 'h2', null]]],
  ])('%s: %s', (_case, verdict, told) => {
    expect(last(...told)).toBe(verdict)
  })
})

test('what makes its hash always fits, and the memory is bounded', () => {
  const memory = new DigestMemory()
  for (let each = 0; each < 10_000; each++) {
    memory.hear('liar', 'now', `h${each}`, 'no')
    expect(memory.hear('x', 'now', `h${each}`, `h${each}`)).toBe('fits')
  }
  expect(memory.size).toBeLessThan(5_000)
})
