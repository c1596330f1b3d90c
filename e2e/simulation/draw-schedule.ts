// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { strategies } from '../../proxy/config/types.ts'
import { Dice } from './dice.ts'
import { drawAilments, type Mood } from './draw-ailments.ts'
import { drawRequests } from './draw-requests.ts'
import type { ChainPlan, LatencyPlan, NodePlan, Schedule, Settings, UrlPlan } from './schedule.ts'

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
