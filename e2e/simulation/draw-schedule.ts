// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { strategies } from '../../proxy/config/types.ts'
import { Dice } from './dice.ts'
import { contentLies, lieKinds } from './lies.ts'
import type {
  ChainPlan,
  LatencyPlan,
  NodePlan,
  Schedule,
  Settings,
  UrlPlan,
  Ailment,
  Illness,
  RequestPlan,
} from './schedule.ts'

/** The schedule of a seed: the same on every machine. */
export function drawSchedule(seed: number): Schedule {
  const dice = new Dice(seed, 0)
  const durationMs = Math.round(dice.scaled(3_000, 75_000))
  const settings = drawSettings(dice, new Dice(seed, 4))
  const chain = drawChain(dice, durationMs)
  const nodes = drawNodes(dice, durationMs)
  const names = nodes.map(({ name }) => name)
  const requests = drawRequests(new Dice(seed, 1), new Dice(seed, 5), durationMs, names)
  return { seed, durationMs, settings, chain, nodes, requests, withMetrics: dice.chance(0.05) }
}

function drawSettings(dice: Dice, checks: Dice): Settings {
  return {
    relay: {
      strategy: dice.pick(strategies),
      retryLimit: dice.pick([2, 2, 2, 2, 0, 1, 3, 6]),
      maxAttempts: dice.pick([10, 10, 10, 10, 1, 2, 3, 20]),
      processingTimeoutMs: dice.pick([30_000, 30_000, 10_000, 3_000, 1_200]),
      minRelayTimeoutMs: dice.pick([1_000, 1_000, 1_000, 200, 3_000]),
      integrity: checks.pick(['full', 'full', 'full', 'envelope', 'off']),
      retryMissingBlocks: checks.chance(0.2),
    },
    failureThreshold: dice.pick([5, 5, 5, 1, 2, 3]),
    maxSessions: dice.chance(0.1) ? dice.whole(1, 4) : 1_000,
    healthCheckIntervalMs: dice.pick([300_000, 300_000, 20_000]),
    livenessProbeIntervalMs: dice.pick([null, null, null, 5_000]),
    epochDurationMs: dice.pick([900_000, 900_000, 60_000]),
  }
}

function drawChain(dice: Dice, durationMs: number): ChainPlan {
  const haltFromMs = dice.next() * durationMs
  return {
    blockTimeMs: dice.pick([12_000, 12_000, 2_000, 1_000]),
    halt: dice.chance(0.1)
      ? { fromMs: haltFromMs, untilMs: haltFromMs + dice.scaled(5_000, 90_000) }
      : null,
    reorgs: Array.from({ length: dice.chance(0.2) ? dice.whole(1, 2) : 0 }, () => ({
      atMs: dice.next() * durationMs,
      depth: dice.whole(1, 4),
    })),
  }
}

function drawNodes(dice: Dice, durationMs: number): readonly NodePlan[] {
  const mood = dice.pick<Mood>(['calm', 'some', 'some', 'some', 'some', 'storm', 'storm', 'outage'])
  const count = dice.whole(1, 8)
  const outageFromMs = dice.next() * durationMs
  const outage = { fromMs: outageFromMs, untilMs: outageFromMs + dice.scaled(1_000, 40_000) }
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    tier: index > 0 && dice.chance(0.25) ? 'backup' : 'primary',
    urls: Array.from({ length: dice.pick([1, 1, 1, 1, 2, 2, 3]) }, () =>
      drawUrl(dice, durationMs, mood, outage),
    ),
  }))
}

function drawUrl(
  dice: Dice,
  durationMs: number,
  mood: Mood,
  outage: { readonly fromMs: number; readonly untilMs: number },
): UrlPlan {
  const ailments = drawAilments(dice, durationMs, mood)
  return {
    timeoutMs: dice.chance(0.1) ? Math.round(dice.scaled(100, 5_000)) : null,
    addons: dice.chance(0.3) ? ['debug'] : [],
    isForeign: dice.chance(0.03),
    lagBlocks: dice.pick([0, 0, 0, 0, 0, 0, 1, 2, 6, 40]),
    latency: drawLatency(dice),
    ailments: mood === 'outage' ? [{ ...outage, share: 1, kind: 'crash' }, ...ailments] : ailments,
  }
}

function drawLatency(dice: Dice): LatencyPlan {
  return {
    medianMs: dice.scaled(2, 300),
    spread: dice.pick([0, 0.1, 0.3, 1]),
    tailShare: dice.pick([0, 0, 0.05, 0.2]),
    tailFactor: dice.scaled(5, 100),
  }
}

/** How much goes wrong in a schedule. */
export type Mood = 'calm' | 'some' | 'storm' | 'outage'

const most: Readonly<Record<Mood, number>> = { calm: 0, some: 1, storm: 4, outage: 1 }

/** What ails one URL over the schedule. */
function drawAilments(dice: Dice, durationMs: number, mood: Mood): readonly Ailment[] {
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

/** What clients ask, the usual more often than the rest. */
const methods = [
  'eth_blockNumber',
  'eth_blockNumber',
  'eth_getBalance',
  'eth_getBalance',
  'eth_getBalance',
  'eth_call',
  'eth_call',
  'eth_call',
  'eth_getBlockByNumber',
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_getBlockReceipts',
  'eth_getLogs',
  'eth_getLogs',
  'eth_estimateGas',
  'eth_chainId',
  'eth_sendRawTransaction',
  'eth_sendRawTransaction',
  'eth_newBlockFilter',
  'debug_getRawHeader',
  'some_unknownMethod',
] as const

/** What the clients do: single calls spread over the time, and bursts. */
function drawRequests(
  dice: Dice,
  heaviness: Dice,
  durationMs: number,
  names: readonly string[],
): readonly RequestPlan[] {
  const count = Math.round(dice.scaled(6, 70))
  const requests: RequestPlan[] = []
  while (requests.length < count) {
    const atMs = dice.chance(0.03) ? 0 : dice.next() * durationMs
    const burst = dice.chance(0.05) ? dice.whole(2, 12) : 1
    const method = dice.pick(methods)
    for (let each = 0; each < burst; each++)
      requests.push(
        drawRequest(dice, heaviness, atMs, burst === 1 ? dice.pick(methods) : method, names),
      )
  }
  return requests.toSorted((a, b) => a.atMs - b.atMs)
}

function drawRequest(
  dice: Dice,
  heaviness: Dice,
  atMs: number,
  method: string,
  names: readonly string[],
): RequestPlan {
  return {
    atMs,
    method,
    depth: dice.chance(0.5) ? null : dice.pick([0, 0, 1, 2, 5, 20, 300]),
    pick: dice.whole(0, 7),
    leavesAfterMs: dice.chance(0.07) ? dice.scaled(1, 3_000) : null,
    selectProvider: dice.chance(0.04) ? dice.pick(names) : null,
    blockProviders: dice.chance(0.04) ? [dice.pick(names)] : [],
    relayTimeoutMs: dice.chance(0.04) ? Math.round(dice.scaled(20, 4_000)) : null,
    heavyMs: heaviness.chance(0.06) ? heaviness.scaled(500, 40_000) : 0,
  }
}
