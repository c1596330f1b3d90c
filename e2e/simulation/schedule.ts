// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { strategies, type RelayConfig, type Tier } from '../../proxy/config/types.ts'
import { alone, Dice, drawKind, kindsOf, type Drawn } from './dice.ts'
import { wrongContents, wrongKinds } from './wrong-answers.ts'

/* The events of one seed outside the engine, as plain data. */

/** The schedule of a seed, which is the same on every machine. */
export function drawSchedule(seed: number) {
  const dice = new Dice(seed, 0)
  /** Virtual time in which clients send calls. */
  const durationMs = Math.round(dice.scaled(3_000, 75_000))
  const settings = drawSettings(dice)
  const chain = drawChain(dice, durationMs)
  const progress = new Dice(seed, 5)
  const nodes = drawNodes(dice, { past: new Dice(seed, 4), progress }, durationMs)
  const names = nodes.map(({ name }) => name)
  const requests = drawRequests(new Dice(seed, 1), durationMs, names).map((each) => ({
    ...each,
    ...drawFloor(progress, each.method),
  }))
  return { seed, durationMs, settings, chain, nodes, requests }
}
export type Schedule = ReturnType<typeof drawSchedule>

export interface Settings {
  readonly relay: RelayConfig
  readonly failureThreshold: number
  readonly maxSessions: number
  readonly healthCheckIntervalMs: number
  readonly livenessProbeIntervalMs: number | null
  readonly epochDurationMs: number
}

function drawSettings(dice: Dice): Settings {
  return {
    relay: {
      strategy: dice.pick(strategies),
      retryLimit: dice.pick([2, 2, 2, 2, 0, 1, 3, 6]),
      maxAttempts: dice.pick([10, 10, 10, 10, 1, 2, 3, 20]),
      processingTimeoutMs: dice.pick([30_000, 30_000, 10_000, 3_000, 1_200]),
      minRelayTimeoutMs: dice.pick([1_000, 1_000, 1_000, 200, 3_000]),
      integrity: dice.pick(['full', 'full', 'core', 'core', 'envelope', 'off']),
      retryMissingBlocks: dice.chance(0.2),
    },
    failureThreshold: dice.pick([5, 5, 5, 1, 2, 3]),
    maxSessions: dice.chance(0.1) ? dice.whole(1, 4) : 1_000,
    healthCheckIntervalMs: dice.pick([300_000, 300_000, 20_000]),
    livenessProbeIntervalMs: dice.pick([null, null, null, 5_000]),
    epochDurationMs: dice.pick([900_000, 900_000, 60_000]),
  }
}

/** From `fromMs` on, before `untilMs`. */
export interface Span {
  readonly fromMs: number
  readonly untilMs: number
}

export function drawSpan(dice: Dice, durationMs: number, minMs: number, maxMs: number): Span {
  const fromMs = dice.next() * durationMs
  return { fromMs, untilMs: fromMs + dice.scaled(minMs, maxMs) }
}

function drawChain(dice: Dice, durationMs: number) {
  return {
    blockTimeMs: dice.pick([12_000, 12_000, 2_000, 1_000]),
    /** No block is mined in this span. */
    halt: dice.chance(0.1) ? drawSpan(dice, durationMs, 5_000, 90_000) : null,
    /** The newest `depth` blocks are replaced at `atMs`. */
    reorgs: dice.times(dice.chance(0.2) ? dice.whole(1, 2) : 0, () => ({
      atMs: dice.next() * durationMs,
      depth: dice.whole(1, 4),
    })),
  }
}

/** Moods of a schedule, with the most faults of a URL. */
const moods = { calm: 0, some: 1, storm: 4, outage: 1 }
export type Mood = keyof typeof moods

/** One upstream. */
export interface NodePlan {
  readonly name: string
  readonly tier: Tier
  readonly urls: readonly UrlPlan[]
}

/** Later streams are separate, so that they do not change the other draws of a seed. */
type Later = Readonly<Record<'past' | 'progress', Dice>>

function drawNodes(dice: Dice, later: Later, durationMs: number): NodePlan[] {
  const mood = dice.pick<Mood>(['calm', 'some', 'some', 'some', 'some', 'storm', 'storm', 'outage'])
  const outage = drawSpan(dice, durationMs, 1_000, 40_000)
  return dice.times(dice.whole(1, 8), (index) => ({
    name: `node-${index + 1}`,
    tier: index > 0 && dice.chance(0.25) ? 'backup' : 'primary',
    urls: dice.times(dice.pick([1, 1, 1, 1, 2, 2, 3]), () =>
      drawUrl(dice, later, durationMs, mood, outage),
    ),
  }))
}

function drawUrl(dice: Dice, later: Later, durationMs: number, mood: Mood, outage: Span) {
  const { past, progress } = later
  const faults = [
    ...(mood === 'outage' ? [{ ...outage, share: 1, kind: 'crash' as const }] : []),
    ...drawFaults(dice, durationMs, moods[mood], faultKinds),
    ...(mood !== 'calm' && dice.chance(0.05)
      ? flapping(dice, dice.whole(3, 12)).map((each) => ({ ...each, share: 1 }))
      : []),
  ]
  return {
    timeoutMs: dice.chance(0.1) ? Math.round(dice.scaled(100, 5_000)) : null,
    addons: dice.chance(0.3) ? ['debug'] : [],
    /** Whether it reports another chain. */
    isForeign: dice.chance(0.03),
    lagBlocks: dice.pick([0, 0, 0, 0, 0, 0, 1, 2, 6, 40]),
    /** Log-normal around the median, with a share of answers that take many times as long. */
    latency: {
      medianMs: dice.scaled(2, 300),
      spread: dice.pick([0, 0.1, 0.3, 1]),
      tailShare: dice.pick([0, 0, 0.05, 0.2]),
      tailFactor: dice.scaled(5, 100),
    },
    faults,
    /** Whether it lacks blocks more than `retainedBlocks` below the head at the start. */
    isPruned: past.chance(0.15),
    /** It starts this many blocks behind, reports that it is syncing, and catches up. */
    syncing: progress.chance(0.08)
      ? { blocks: progress.whole(100, 500), perSecond: progress.scaled(2, 40) }
      : null,
    /** Whether its receipts include those of the next block. */
    preconfirms: progress.chance(0.3),
  }
}
/** Number of blocks that a pruned node has at the start. No simulated chain grows by as many. */
export const retainedBlocks = 150

/** One URL and the machine behind it. */
export type UrlPlan = ReturnType<typeof drawUrl>

/** A temporary fault of a URL. It affects a `share` of the requests. */
export type PlannedFault = Span & { readonly share: number } & Fault

export function drawFaults(
  dice: Dice,
  durationMs: number,
  most: number,
  kinds: readonly Fault['kind'][],
): PlannedFault[] {
  return dice.times(dice.whole(0, most), () => {
    const { fromMs, untilMs } = drawSpan(dice, durationMs, 100, durationMs)
    const span = { fromMs: dice.chance(0.2) ? 0 : fromMs, untilMs }
    return {
      ...span,
      share: dice.chance(0.6) ? 1 : dice.next(),
      ...drawKind(dice, faultTable, kinds),
    }
  })
}

/** Alternates between up and down. */
export function flapping<Kind extends string = 'crash'>(
  dice: Dice,
  turns: number,
  kind = 'crash' as Kind,
): (Span & { readonly kind: Kind })[] {
  const downMs = dice.scaled(50, 5_000)
  const upMs = dice.scaled(50, 5_000)
  return dice.times(turns, (turn) => {
    const fromMs = upMs + turn * (downMs + upMs)
    return { fromMs, untilMs: fromMs + downMs, kind }
  })
}

const statuses = [500, 502, 503, 504, 400, 403, 404, 413, 415, 401, 200, 205, 302, 307]

const faultTable = {
  /** The connection is refused. */
  refuse: alone,
  /** In-flight requests are reset, then connections are refused. */
  crash: alone,
  reset: alone,
  truncated: alone,
  protocol: alone,
  /** More bytes than the router accepts, which every upstream would return. */
  'too-large': alone,
  /** Accepts the request and never answers. */
  hang: alone,
  slow: (dice: Dice) => ({ addMs: dice.scaled(50, 20_000) }),
  /** HTTP 429; `retryAfterSeconds` as seconds or as a date. */
  'rate-limit': (dice: Dice) => ({
    retryAfterSeconds: dice.chance(0.6) ? dice.pick([0, 1, 5, 20, 60, 90]) : null,
    asDate: dice.chance(0.2),
    body: dice.pick(['json', 'html'] as const),
  }),
  /** The quota is exhausted, with HTTP 200. */
  quota: alone,
  /** `retryAfterSeconds` is the length of the outage. */
  status: (dice: Dice) => ({
    ...dice.pick<{ status: number; retryAfterSeconds: number | null }>([
      ...statuses.map((status) => ({ status, retryAfterSeconds: null })),
      { status: 503, retryAfterSeconds: 5 },
      { status: 503, retryAfterSeconds: 90 },
    ]),
    body: dice.pick(['html', 'empty'] as const),
  }),
  /**
   * An internal error with HTTP 200: the message of a node, an unknown message, that of a node that
   * could not read the request, or that of a gateway.
   */
  error: (dice: Dice) => ({
    words: dice.pick(['internal', 'unknown', 'unread', 'gateway'] as const),
  }),
  lag: (dice: Dice) => ({ blocks: dice.whole(1, 30) }),
  /** Its head does not move. */
  freeze: alone,
  /** Sends the first of `wrongs` that applies to the call. */
  wrong: (dice: Dice) => {
    const from = dice.whole(0, wrongContents.length - 1)
    const all = [...wrongContents.slice(from), ...wrongContents.slice(0, from)]
    return { wrongs: dice.chance(0.5) ? [dice.pick(wrongKinds)] : all }
  },
}
export type Fault = Drawn<typeof faultTable>

const often = ['crash', 'hang', 'rate-limit', 'wrong', 'wrong', 'wrong'] as const
export const faultKinds: readonly Fault['kind'][] = [...kindsOf(faultTable), ...often]

/** Methods of the clients, with their weights. */
const methods = {
  eth_blockNumber: 2,
  eth_getBalance: 3,
  eth_call: 3,
  eth_getBlockByNumber: 2,
  eth_getBlockByHash: 1,
  eth_getTransactionByHash: 1,
  eth_getTransactionReceipt: 1,
  eth_getBlockReceipts: 1,
  eth_getLogs: 2,
  eth_estimateGas: 1,
  eth_chainId: 1,
  eth_sendRawTransaction: 2,
  eth_newBlockFilter: 1,
  eth_accounts: 1,
  debug_getRawHeader: 1,
  some_getUnknown: 1,
}
const methodLots = kindsOf(methods).flatMap((method) => Array<string>(methods[method]).fill(method))

/** The clients' calls: single calls and bursts. */
function drawRequests(dice: Dice, durationMs: number, names: readonly string[]) {
  const count = Math.round(dice.scaled(6, 70))
  const requests: ReturnType<typeof drawRequest>[] = []
  while (requests.length < count) {
    const atMs = dice.chance(0.03) ? 0 : dice.next() * durationMs
    const burst = dice.chance(0.05) ? dice.whole(2, 12) : 1
    const method = dice.pick(methodLots)
    requests.push(...dice.times(burst, () => drawRequest(dice, atMs, method, names)))
  }
  return requests.toSorted((a, b) => a.atMs - b.atMs)
}

function drawRequest(dice: Dice, atMs: number, method: string, names: readonly string[]) {
  return {
    atMs,
    method,
    /** Depth of its block below the current head; null: `latest`. */
    depth: dice.chance(0.5) ? null : dice.pick([0, 0, 1, 2, 5, 20, 300]),
    /** Selects the address or the transaction. */
    pick: dice.whole(0, 7),
    /** The client leaves after this time; null: it waits. */
    leavesAfterMs: dice.chance(0.07) ? dice.scaled(1, 3_000) : null,
    selectProvider: dice.chance(0.04) ? dice.pick(names) : null,
    blockProviders: dice.chance(0.04) ? [dice.pick(names)] : [],
    relayTimeoutMs: dice.chance(0.04) ? Math.round(dice.scaled(20, 4_000)) : null,
    /** Extra time of the call on every node. */
    heavyMs: dice.chance(0.06) ? dice.scaled(500, 40_000) : 0,
  }
}

const floors = [...Array<'seen'>(9).fill('seen'), 1, 1, 1, 20, 2_000] as const

function drawFloor(progress: Dice, method: string) {
  return {
    client: progress.whole(1, 3),
    /** The highest block that its client has seen, or this many above the head; null: no floor. */
    floor: progress.chance(0.4) ? progress.pick(floors) : null,
    /** Whether it is about the next block, whose receipts some nodes have. */
    isEarly: method === 'eth_getTransactionReceipt' && progress.chance(0.5),
  }
}
export type RequestPlan = ReturnType<typeof drawRequest> & ReturnType<typeof drawFloor>
