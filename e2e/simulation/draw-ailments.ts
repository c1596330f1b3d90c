// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Dice } from './dice.ts'
import { contentLies, lieKinds } from './lies.ts'
import type { Ailment, Illness } from './schedule.ts'

/** How much goes wrong in a schedule. */
export type Mood = 'calm' | 'some' | 'storm' | 'outage'

const most: Readonly<Record<Mood, number>> = { calm: 0, some: 1, storm: 4, outage: 1 }

/** What ails one URL over the schedule. */
export function drawAilments(dice: Dice, durationMs: number, mood: Mood): readonly Ailment[] {
  const ailments = Array.from({ length: dice.whole(0, most[mood]) }, () => {
    const fromMs = dice.chance(0.2) ? 0 : dice.next() * durationMs
    const untilMs = fromMs + dice.scaled(100, durationMs)
    const share = dice.chance(0.6) ? 1 : dice.next()
    return { fromMs, untilMs, share, ...drawIllness(dice) }
  })
  return mood !== 'calm' && dice.chance(0.05) ? [...ailments, ...flapping(dice)] : ailments
}

/** Up and down and up again, in a row. */
function flapping(dice: Dice): readonly Ailment[] {
  const downMs = dice.scaled(50, 5_000)
  const upMs = dice.scaled(50, 5_000)
  return Array.from({ length: dice.whole(3, 12) }, (_, turn) => {
    const fromMs = turn * (downMs + upMs)
    return { fromMs, untilMs: fromMs + downMs, share: 1, kind: 'crash' }
  })
}

const statuses = [
  ...[500, 502, 503, 504, 400, 403, 404, 413, 415, 401, 200, 205, 302, 307].map((status) => ({
    status,
  })),
  { status: 503, retryAfterSeconds: 5 },
  { status: 503, retryAfterSeconds: 90 },
]

function drawIllness(dice: Dice): Illness {
  const kind = dice.pick<Illness['kind']>([
    'refuse',
    'crash',
    'crash',
    'reset',
    'truncated',
    'protocol',
    'too-large',
    'hang',
    'hang',
    'slow',
    'rate-limit',
    'rate-limit',
    'quota',
    'status',
    'error',
    'lag',
    'freeze',
    'lie',
    'lie',
    'lie',
    'lie',
  ])
  switch (kind) {
    case 'slow':
      return { kind, addMs: dice.scaled(50, 20_000) }
    case 'rate-limit':
      return {
        kind,
        retryAfterSeconds: dice.chance(0.6) ? dice.pick([0, 1, 5, 20, 60, 90]) : null,
        asDate: dice.chance(0.2),
        dressed: dice.pick(['json', 'html']),
      }
    case 'status':
      return {
        kind,
        ...dice.pick(statuses),
        body: dice.pick(['html', 'empty']),
      }
    case 'error':
      return { kind, words: dice.pick(['internal', 'unknown', 'unread', 'gateway']) }
    case 'lag':
      return { kind, blocks: dice.whole(1, 30) }
    case 'lie':
      return { kind, lies: dice.chance(0.5) ? [dice.pick(lieKinds)] : shuffled(dice, contentLies) }
    default:
      return { kind }
  }
}

/** In an order of the seed's own: which lie comes first decides what is told. */
function shuffled<T>(dice: Dice, list: readonly T[]): readonly T[] {
  const from = dice.whole(0, list.length - 1)
  return [...list.slice(from), ...list.slice(0, from)]
}
