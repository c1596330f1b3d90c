// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { CooldownKind } from './health.ts'
import { RateLimit } from './rate-limit.ts'
import type { Upstream } from './upstream.ts'
import type { NodeUrl } from './node-url.ts'

interface Effect {
  /**
   * What it does to the failures in a row of the URL and, if no other URL works, of the upstream.
   * `add-revocably`: once for all calls that are late at a time, until one proves slow.
   */
  readonly failures: 'reset' | 'add' | 'add-revocably' | 'keep'
  /** What the score learns from the duration: the latency, or that it is at least as long. */
  readonly latency: 'exact' | 'at-least' | 'ignore'
  /** `if-requested`: only if the node says for how long. `of-method`: for this method only. */
  readonly cooldown: 'begin' | 'if-requested' | 'of-method' | 'end' | 'keep'
}

/** What each outcome of a request or probe does to its URL and upstream. No other code blames. */
const effects = {
  /** A result, or an error that the node itself returns. */
  answered: { failures: 'reset', latency: 'exact', cooldown: 'end' },
  /** The provider limits the rate, or a quota is used up. */
  limited: { failures: 'keep', latency: 'ignore', cooldown: 'begin' },
  /** The node lacks or limits the method. */
  methodLimited: { failures: 'keep', latency: 'ignore', cooldown: 'of-method' },
  /** No answer, an error that is the upstream's fault, or a wrong answer. */
  failed: { failures: 'add', latency: 'ignore', cooldown: 'if-requested' },
  /** No answer within the budget, but the attempt runs on. */
  late: { failures: 'add-revocably', latency: 'ignore', cooldown: 'keep' },
  /** It was cancelled after less time than an upstream may take. */
  overtaken: { failures: 'keep', latency: 'at-least', cooldown: 'keep' },
} as const satisfies Record<string, Effect>

export type Outcome = keyof typeof effects

export interface OutcomeDetails {
  /** For outcomes that count as a failure. */
  readonly failure?: Pick<FailureClass, 'name' | 'weight'>
  /** The cause in words, for every surface; default: the name of the failure. */
  readonly reason?: string
  /** For `limited`; default: a rate. */
  readonly limit?: CooldownKind
  /** For `methodLimited`: the method, and how long the cooldown lasts if the node does not say. */
  readonly method?: { readonly name: string; readonly forMs: number; readonly isLimit: boolean }
  /** `Retry-After` of the node, if any. */
  readonly retryAfterMs?: number | null
  /** Null if the latency is not comparable to that of other calls. */
  readonly elapsedMs?: number | null
  /** When the request was sent, on the monotonic clock. */
  readonly sentMs?: number
  /** Whether a failure disables only after a probe has failed too. Default: false. */
  readonly needsProbe?: boolean
  /** The fault or the answer: calls of one batch have the same cause, which counts once. */
  readonly cause?: object | null
}

/** Details of `limited`. @param headersMs how long the headers of the answer ask to wait */
export function limitOf({ limit, retryAfterMs }: FailureClass, headersMs: number | null) {
  const kind: CooldownKind = limit === 'quota' ? 'quota' : 'rate'
  return { limit: kind, retryAfterMs: retryAfterMs ?? headersMs } satisfies OutcomeDetails
}

/**
 * Applies an outcome.
 * @param upstream null if only the URL is concerned
 * @returns reverts it, if it is revocable; otherwise null
 */
export function settle(
  outcome: Outcome,
  upstream: Upstream | null,
  url: NodeUrl,
  details: OutcomeDetails = {},
): (() => void) | null {
  const { failure = unnamed, retryAfterMs = null, elapsedMs = null, method } = details
  const { reason = failure.name } = details
  const { failures, latency, cooldown }: Effect = effects[outcome]
  // The cooldown begins first, since the probe that a failure may start respects it.
  if (cooldown === 'begin') {
    // A refusal during a cooldown belongs to an earlier call.
    if (details.limit !== 'quota' && !url.cooldown.active)
      (url.limit ??= new RateLimit(url.cooldown.clock)).refused()
    url.cooldown.begin(retryAfterMs, details.limit, details.reason)
  } else if (cooldown === 'of-method' && method)
    url.cooldown.beginOf(method.name, retryAfterMs ?? method.forMs, reason, method.isLimit)
  else if (cooldown === 'if-requested' && retryAfterMs !== null)
    url.cooldown.pause(retryAfterMs, details.reason)
  else if (cooldown === 'end') {
    url.cooldown.end()
    url.limit?.answered()
  }
  if (upstream === null) return null
  if (latency === 'at-least' && elapsedMs !== null) upstream.recordCensoredLatency(elapsedMs)
  const counted = { reason, weight: failure.weight }
  if (failures === 'reset') upstream.succeeded(url, latency === 'exact' ? elapsedMs : null)
  else if (failures === 'add') upstream.failed(url, counted, details.needsProbe, details.cause)
  else if (failures === 'add-revocably') return upstream.late(url, counted, details.sentMs ?? 0)
  return null
}

/** Whether a failure is that of its upstream: it broke, limits calls, or has no time for one. */
export function isBlamed({ weight, cooldown, busy }: FailureClass): boolean {
  return weight > 0 || cooldown || busy
}

const unnamed = { name: 'failed', weight: 1 }
