// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Tier } from '../../../proxy/config/types.ts'
import { Population } from '../../upstream-sim/chain-state.ts'
import { transferTopic } from '../../upstream-sim/drafts.ts'
import type { LogFilter } from '../../upstream-sim/log-filter.ts'
import { chainSeed } from '../chain-growth.ts'
import { alone, Dice, drawKind, kindsOf, type Drawn } from '../dice.ts'
import { drawFaults, drawSpan, flapping, type Span, type UrlPlan } from '../schedule.ts'

/* The events of one seed outside the engine, as plain data, for subscriptions. */

/** Moods of a schedule, with the most faults of a socket. */
const moods = { calm: 0, some: 2, storm: 6, outage: 2 }
type Mood = keyof typeof moods

/** One seed in this many is a series of forced failovers. */
const failoversEach = 500

/** The schedule of a seed, which is the same on every machine. */
export function drawSubscriptionSchedule(seed: number) {
  if (seed % failoversEach === 0) return forcedFailovers(seed, 200)
  const dice = new Dice(seed, 50)
  const durationMs = Math.round(dice.scaled(10_000, 120_000))
  const mood = dice.pick<Mood>(['calm', 'some', 'some', 'storm', 'storm', 'outage'])
  const nodeCount = dice.whole(1, 5)
  const forks = dice.times(nodeCount > 1 && dice.chance(0.5) ? dice.whole(1, 3) : 0, () =>
    within(durationMs, drawSpan(dice, durationMs * 0.9, 1_000, 60_000)),
  )
  const outage = drawSpan(dice, durationMs, 1_000, 40_000)
  return {
    seed,
    durationMs,
    maxGapBlocks: dice.pick([1_000, 1_000, 1_000, 1_000, 6]),
    stallBlocks: dice.pick([3, 3, 2, 5]),
    chain: {
      blockTimeMs: dice.pick([12_000, 2_000, 1_000, 1_000, 400]),
      halt: dice.chance(0.15) ? drawSpan(dice, durationMs, 5_000, 60_000) : null,
      reorgs: [
        ...dice.times(dice.chance(0.6) ? dice.whole(1, 6) : 0, () => ({
          atMs: dice.next() * durationMs,
          depth: dice.pick([1, 1, 1, 2, 3, 5]),
        })),
        ...forks.map(({ fromMs }) => ({ atMs: fromMs + 1, depth: dice.whole(1, 5) })),
      ],
    },
    nodes: dice.times(nodeCount, (index) => drawNode(dice, index, durationMs, mood, outage, forks)),
    clients: dice.times(dice.whole(1, 12), () => drawClient(dice, durationMs)),
  }
}
export type SubscriptionSchedule = ReturnType<typeof forcedFailovers>

const within = (durationMs: number, { fromMs, untilMs }: Span): Span => ({
  fromMs,
  untilMs: Math.min(untilMs, durationMs),
})

/** Cuts every subscribed upstream many times, while the chain grows and reorganises. */
export function forcedFailovers(seed: number, count: number) {
  const dice = new Dice(seed, 51)
  const eachMs = 3_000
  const durationMs = 5_000 + count * eachMs
  const times = dice.times(count, (at) => 8_000 + at * eachMs)
  const unreported = times.filter((_, at) => at % 5 === 1)
  const clients = [null, null, {}, { topics: [transferTopic] }]
  return {
    seed,
    durationMs,
    maxGapBlocks: 1_000,
    stallBlocks: 3,
    chain: {
      blockTimeMs: 1_000,
      halt: null as Span | null,
      reorgs: times
        .filter((_, at) => at % 3 === 0)
        .map((atMs) => ({ atMs: atMs + dice.next() * eachMs, depth: dice.whole(1, 6) }))
        // Further reorganisations happen while no upstream reports.
        .concat(unreported.map((atMs) => ({ atMs: atMs + 500, depth: dice.whole(1, 6) }))),
    },
    nodes: dice.times(3, (index): SubscriptionNodePlan => {
      // All sockets go down together, so that the subscribed upstream is among them.
      const faults = times.map((fromMs) => {
        const untilMs = fromMs + (unreported.includes(fromMs) ? 1_000 : 1)
        return { kind: 'down' as const, fromMs, untilMs }
      })
      const socket = { lagBlocks: 0, delayMs: dice.scaled(1, 100), faults }
      return { ...nodeNamed(index), forks: [], urls: [soundUrl(dice, 0)], socket }
    }),
    clients: clients.map((filter, index): ClientPlan => ({
      atMs: 5_000 + index * 7_000,
      leavesAfterMs: null,
      filter,
    })),
  }
}

const nodeNamed = (index: number) => ({ name: `node-${index + 1}`, tier: 'primary' as Tier })

function drawNode(
  dice: Dice,
  index: number,
  durationMs: number,
  mood: Mood,
  outage: Span,
  forks: readonly Span[],
) {
  const lagBlocks = dice.pick([0, 0, 0, 0, 1, 2])
  const faults = drawFaults(dice, durationMs, moods[mood] / 2, urlFaults)
  const isOut = mood === 'outage'
  const url: UrlPlan = {
    ...soundUrl(dice, lagBlocks),
    faults: [
      ...(isOut ? [{ ...outage, share: 1, kind: 'crash' as const }] : []),
      ...faults.map((each) => ({ ...each, ...within(durationMs, each) })),
    ],
  }
  const socketFaults = [
    ...(isOut ? [{ ...outage, kind: 'down' as const }] : []),
    ...(mood === 'storm' && dice.chance(0.5) ? flapping(dice, 30, 'down') : []).filter(
      ({ untilMs }) => untilMs <= durationMs,
    ),
    ...dice.times(dice.whole(0, moods[mood]), () => ({
      ...within(durationMs, drawSpan(dice, durationMs, 100, durationMs)),
      ...drawKind(dice, socketFaultTable, [
        ...kindsOf(socketFaultTable),
        'down',
        'down',
        'down',
        'stall',
      ]),
    })),
  ]
  // At least one upstream needs a socket.
  const socket =
    index === 0 || dice.chance(0.85)
      ? { lagBlocks, delayMs: dice.scaled(1, 300), faults: socketFaults as SocketFault[] }
      : null
  return {
    ...nodeNamed(index),
    urls: [url],
    /** During a fork the node stays on its branch, which continues to grow. */
    forks: forks.filter(() => dice.chance(0.4)),
    /** Null without a WebSocket URL. `delayMs` is the latency from the node to the router. */
    socket,
  }
}
export type SubscriptionNodePlan = ReturnType<typeof drawNode>
export type SocketPlan = NonNullable<SubscriptionNodePlan['socket']>

const urlFaults = ['refuse', 'crash', 'reset', 'hang', 'slow', 'error', 'lag', 'freeze'] as const

function soundUrl(dice: Dice, lagBlocks: number): UrlPlan {
  const latency = { medianMs: dice.scaled(2, 200), spread: 0.3, tailShare: 0.02, tailFactor: 20 }
  const sound = { timeoutMs: null, addons: [], isForeign: false, isPruned: false, faults: [] }
  return { ...sound, syncing: null, preconfirms: false, lagBlocks, latency }
}

export type SocketFault = Span & Drawn<typeof socketFaultTable>

const share = (dice: Dice) => ({ share: dice.next() })

const socketFaultTable = {
  /** Cuts connections, and then refuses new ones. */
  down: alone,
  /** Subscriptions are silent. */
  stall: alone,
  /** Subscribe requests get no answer. */
  mute: alone,
  /** Subscribe requests get an error. */
  refuse: (dice: Dice) => ({
    error: dice.pick([
      { code: -32005, message: 'too many subscriptions, limit exceeded' },
      { code: -32603, message: 'internal error' },
    ]),
  }),
  lag: (dice: Dice) => ({ blocks: dice.whole(1, 30) }),
  /** Sends a share of the events twice. */
  duplicate: share,
  /** Sends a share of the events late, after newer events. */
  disorder: (dice: Dice) => ({ share: dice.next(), lateMs: dice.scaled(100, 5_000) }),
  /** Drops a share of the events. */
  drop: share,
  /** Also sends a head that is up to this many blocks older. */
  repeat: (dice: Dice) => ({ blocks: dice.pick([1, 3, 20, 200]) }),
  /** Also sends heads that do not exist. */
  'untrue-head': (dice: Dice) => ({ head: dice.pick(['orphan', 'far-ahead', 'garbage'] as const) }),
}

export interface ClientPlan {
  readonly atMs: number
  /** Null: it stays until the end. */
  readonly leavesAfterMs: number | null
  /** Filter of logs; null: it subscribes to heads. */
  readonly filter: LogFilter | null
}

const { contracts } = new Population(chainSeed)

function drawClient(dice: Dice, durationMs: number): ClientPlan {
  return {
    atMs: dice.chance(0.4) ? 5_000 : 5_000 + dice.next() * durationMs * 0.8,
    leavesAfterMs: dice.chance(0.3) ? dice.scaled(10, durationMs) : null,
    filter: dice.pick<LogFilter | null>([
      ...[null, null, null, null, null],
      {},
      { address: dice.pick(contracts) },
      { address: [contracts[0], contracts[1], contracts[2]], topics: [] },
      { topics: [transferTopic] },
      { topics: [[transferTopic], null] },
    ]),
  }
}
