// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Population } from '../../upstream-sim/chain-state.ts'
import { transferTopic } from '../../upstream-sim/drafts.ts'
import { chainSeed } from '../chain-growth.ts'
import { Dice } from '../dice.ts'
import type { Ailment, ChainPlan, Illness, UrlPlan } from '../schedule.ts'
import type {
  ClientPlan,
  SocketAilment,
  SocketIllness,
  SocketPlan,
  SubscriptionNodePlan,
  SubscriptionSchedule,
} from './schedule.ts'

/** How much goes wrong in a schedule. */
type Mood = 'calm' | 'some' | 'storm' | 'outage'
const most: Readonly<Record<Mood, number>> = { calm: 0, some: 2, storm: 6, outage: 2 }

const { contracts } = new Population(chainSeed)

/** The schedule of a seed: the same on every machine. */
export function drawSubscriptionSchedule(seed: number): SubscriptionSchedule {
  const dice = new Dice(seed, 50)
  const durationMs = Math.round(dice.scaled(10_000, 120_000))
  const mood = dice.pick<Mood>(['calm', 'some', 'some', 'storm', 'storm', 'outage'])
  const schedule = {
    seed,
    durationMs,
    maxGapBlocks: dice.pick([1_000, 1_000, 1_000, 1_000, 6]),
    stallBlocks: dice.pick([3, 3, 2, 5]),
    chain: drawChain(dice, durationMs),
    nodes: drawNodes(dice, durationMs, mood),
    clients: Array.from({ length: dice.whole(1, 8) }, () => drawClient(dice, durationMs)),
  }
  return withRepeats(withForks(schedule, new Dice(seed, 54)), new Dice(seed, 56))
}

/** Some nodes stay for a while on a branch that the others leave. */
function withForks(schedule: SubscriptionSchedule, dice: Dice): SubscriptionSchedule {
  const { durationMs, chain, nodes } = schedule
  if (nodes.length < 2 || !dice.chance(0.35)) return schedule
  const forks = Array.from({ length: dice.whole(1, 3) }, () => {
    const fromMs = dice.next() * durationMs * 0.9
    return { fromMs, untilMs: Math.min(fromMs + dice.scaled(1_000, 60_000), durationMs) }
  })
  const leaves = forks.map(({ fromMs }) => ({ atMs: fromMs + 1, depth: dice.whole(1, 5) }))
  return {
    ...schedule,
    chain: { ...chain, reorgs: [...chain.reorgs, ...leaves] },
    nodes: nodes.map((node) => ({ ...node, forks: forks.filter(() => dice.chance(0.4)) })),
  }
}

/** Some nodes tell what is old. */
function withRepeats(schedule: SubscriptionSchedule, dice: Dice): SubscriptionSchedule {
  const { durationMs, nodes } = schedule
  return {
    ...schedule,
    nodes: nodes.map((node) => {
      if (node.socket === null || !dice.chance(0.15)) return node
      const fromMs = dice.next() * durationMs
      const untilMs = Math.min(fromMs + dice.scaled(1_000, durationMs), durationMs)
      const blocks = dice.pick([1, 3, 20, 200])
      const ailments = [
        ...node.socket.ailments,
        { kind: 'repeat', fromMs, untilMs, blocks } as const,
      ]
      return { ...node, socket: { ...node.socket, ailments } }
    }),
  }
}

function drawChain(dice: Dice, durationMs: number): ChainPlan {
  const fromMs = dice.next() * durationMs
  return {
    blockTimeMs: dice.pick([12_000, 2_000, 1_000, 1_000, 400]),
    halt: dice.chance(0.15) ? { fromMs, untilMs: fromMs + dice.scaled(5_000, 60_000) } : null,
    reorgs: Array.from({ length: dice.chance(0.6) ? dice.whole(1, 6) : 0 }, () => ({
      atMs: dice.next() * durationMs,
      depth: dice.pick([1, 1, 1, 2, 3, 5]),
    })),
  }
}

/** Every upstream that tells is cut, so many times in a row, while the chain grows and reorganises. */
export function forcedFailovers(seed: number, count: number): SubscriptionSchedule {
  const dice = new Dice(seed, 51)
  const eachMs = 3_000
  const durationMs = 5_000 + count * eachMs
  const times = Array.from({ length: count }, (_, at) => 8_000 + at * eachMs)
  const unheard = times.filter((_, at) => at % 5 === 1)
  return {
    seed,
    durationMs,
    maxGapBlocks: 1_000,
    stallBlocks: 3,
    chain: {
      blockTimeMs: 1_000,
      halt: null,
      reorgs: times
        .filter((_, at) => at % 3 === 0)
        .map((atMs) => ({ atMs: atMs + dice.next() * eachMs, depth: dice.whole(1, 6) }))
        // And some while nobody tells.
        .concat(unheard.map((atMs) => ({ atMs: atMs + 500, depth: dice.whole(1, 6) }))),
    },
    nodes: Array.from({ length: 3 }, (_, index) => ({
      name: `node-${index + 1}`,
      forks: [],
      http: drawHttp(dice, durationMs, 'calm', 0, { fromMs: 0, untilMs: 0 }),
      socket: {
        lagBlocks: 0,
        delayMs: dice.scaled(1, 100),
        // All at once, for a moment, so that whichever tells is struck.
        ailments: times.map((fromMs) => ({
          kind: 'down',
          fromMs,
          untilMs: fromMs + (unheard.includes(fromMs) ? 1_000 : 1),
        })),
      },
    })),
    clients: [['newHeads'], ['newHeads'], ['logs', {}], ['logs', { topics: [transferTopic] }]].map(
      (params, index) => ({ atMs: 5_000 + index * 7_000, leavesAfterMs: null, params }),
    ),
  }
}

function drawNodes(dice: Dice, durationMs: number, mood: Mood): readonly SubscriptionNodePlan[] {
  const outageFromMs = dice.next() * durationMs
  const outage = { fromMs: outageFromMs, untilMs: outageFromMs + dice.scaled(1_000, 40_000) }
  return Array.from({ length: dice.whole(1, 5) }, (_, index) => {
    const lagBlocks = dice.pick([0, 0, 0, 0, 1, 2])
    return {
      name: `node-${index + 1}`,
      forks: [],
      http: drawHttp(dice, durationMs, mood, lagBlocks, outage),
      // Without any there is nothing to subscribe to.
      socket:
        index === 0 || dice.chance(0.85)
          ? drawSocket(dice, durationMs, mood, lagBlocks, outage)
          : null,
    }
  })
}

function drawHttp(
  dice: Dice,
  durationMs: number,
  mood: Mood,
  lagBlocks: number,
  outage: { readonly fromMs: number; readonly untilMs: number },
): UrlPlan {
  const ailments = Array.from({ length: dice.whole(0, most[mood] / 2) }, (): Ailment => {
    const fromMs = dice.next() * durationMs
    const untilMs = Math.min(fromMs + dice.scaled(100, durationMs), durationMs)
    return { fromMs, untilMs, share: dice.chance(0.6) ? 1 : dice.next(), ...drawIllness(dice) }
  })
  return {
    timeoutMs: null,
    addons: [],
    isForeign: false,
    lagBlocks,
    latency: { medianMs: dice.scaled(2, 200), spread: 0.3, tailShare: 0.02, tailFactor: 20 },
    ailments: mood === 'outage' ? [{ ...outage, share: 1, kind: 'crash' }, ...ailments] : ailments,
  }
}

function drawIllness(dice: Dice): Illness {
  const kind = dice.pick<
    'refuse' | 'crash' | 'reset' | 'hang' | 'slow' | 'error' | 'lag' | 'freeze'
  >(['refuse', 'crash', 'reset', 'hang', 'slow', 'error', 'lag', 'freeze'])
  switch (kind) {
    case 'slow':
      return { kind, addMs: dice.scaled(50, 5_000) }
    case 'error':
      return { kind, words: 'internal' }
    case 'lag':
      return { kind, blocks: dice.whole(1, 30) }
    default:
      return { kind }
  }
}

function drawSocket(
  dice: Dice,
  durationMs: number,
  mood: Mood,
  lagBlocks: number,
  outage: { readonly fromMs: number; readonly untilMs: number },
): SocketPlan {
  const ailments = Array.from({ length: dice.whole(0, most[mood]) }, (): SocketAilment => {
    const fromMs = dice.chance(0.1) ? 0 : dice.next() * durationMs
    const untilMs = Math.min(fromMs + dice.scaled(100, durationMs), durationMs)
    return { fromMs, untilMs, ...drawSocketIllness(dice) }
  })
  return {
    lagBlocks,
    delayMs: dice.scaled(1, 300),
    ailments: [
      ...(mood === 'outage' ? [{ ...outage, kind: 'down' } as const] : []),
      ...(mood === 'storm' && dice.chance(0.5) ? flapping(dice, durationMs) : []),
      ...ailments,
    ],
  }
}

/** Up and down and up again, in a row. */
function flapping(dice: Dice, durationMs: number): readonly SocketAilment[] {
  const downMs = dice.scaled(10, 3_000)
  const upMs = dice.scaled(500, 10_000)
  const turns = Math.min(30, Math.floor(durationMs / (downMs + upMs)))
  return Array.from({ length: turns }, (_, turn) => {
    const fromMs = turn * (downMs + upMs) + upMs
    return { fromMs, untilMs: fromMs + downMs, kind: 'down' }
  })
}

function drawSocketIllness(dice: Dice): SocketIllness {
  const kind = dice.pick<Exclude<SocketIllness['kind'], 'repeat'>>([
    'down',
    'down',
    'down',
    'stall',
    'stall',
    'mute',
    'refuse',
    'lag',
    'duplicate',
    'disorder',
    'drop',
    'lie',
  ])
  switch (kind) {
    case 'refuse':
      return dice.chance(0.5)
        ? { kind, code: -32005, message: 'too many subscriptions, limit exceeded' }
        : { kind, code: -32603, message: 'internal error' }
    case 'lag':
      return { kind, blocks: dice.whole(1, 30) }
    case 'duplicate':
    case 'drop':
      return { kind, share: dice.next() }
    case 'disorder':
      return { kind, share: dice.next(), lateMs: dice.scaled(100, 5_000) }
    case 'lie':
      return { kind, lie: dice.pick(['orphan', 'far-ahead', 'garbage']) }
    default:
      return { kind }
  }
}

function drawClient(dice: Dice, durationMs: number): ClientPlan {
  return {
    atMs: dice.chance(0.4) ? 5_000 : 5_000 + dice.next() * durationMs * 0.8,
    leavesAfterMs: dice.chance(0.3) ? dice.scaled(10, durationMs) : null,
    params: dice.chance(0.5) ? ['newHeads'] : ['logs', drawFilter(dice)],
  }
}

function drawFilter(dice: Dice): object {
  return dice.pick<() => object>([
    () => ({}),
    () => ({ address: dice.pick(contracts) }),
    () => ({ address: [contracts[0], contracts[1], contracts[2]], topics: [] }),
    () => ({ topics: [transferTopic] }),
    () => ({ topics: [[transferTopic], null] }),
  ])()
}
