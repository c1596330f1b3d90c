// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { evidenceOf } from '../chain/failure-words.ts'
import type { Clock } from '../clock/clock.ts'
import { formatAddress } from '../config/fields/address.ts'
import type { Address, ApiInterface } from '../config/types.ts'
import type { CrossValidationObserver } from '../cross-validation/cross-validation.ts'
import type { CallEnd, ListenerObserver } from '../listener/listener.ts'
import type { AttemptRecord, Call, RelayObserver } from '../relay/call.ts'
import { errorKinds } from '../relay/errors.ts'
import type { SubscriptionObserver } from '../subscription/subscriptions.ts'
import type { PoolObserver, UpstreamState } from '../upstream/observer.ts'
import { isFailure, memo, methodOf, outcomeOf, resultOf } from './call-counters.ts'
import { timeOf } from './config-state.ts'
import { lineLimits, type LineRate, type LogFields, type Logger, type TakeLine } from './log.ts'
import { perListener } from './observers.ts'
import { clientFields } from './shown-client.ts'

interface EventLogOptions {
  readonly logger: Logger
  readonly clock: Clock
}

/** Per listener. Failures come in floods, and a client may always send `rpc-debug-relay`. */
const failureRate: LineRate = { lines: 20, perMs: 1_000 }
const violationRate: LineRate = { lines: 1, perMs: 60_000 }
const debugRelayRate: LineRate = { lines: 100, perMs: 1_000 }
/** Per upstream, so that one that flaps or stays down does not flood the log. */
const stateRate: LineRate = { lines: 6, perMs: 60_000 }
const verificationRate: LineRate = { lines: 3, perMs: 300_000 }
const cooldownRate: LineRate = { lines: 6, perMs: 60_000 }
/** Per chain and interface, because an upstream that flaps moves every topic. */
const moveRate: LineRate = { lines: 20, perMs: 60_000 }
const delayRate: LineRate = { lines: 6, perMs: 60_000 }
const endRate: LineRate = { lines: 6, perMs: 60_000 }

/** Upstreams often lag briefly, so a shorter lag is not logged. */
const quietForMs = 10_000

/** Writes events to the log. */
export function createEventLog({ logger, clock }: EventLogOptions) {
  return {
    /** Logs a bound listener; `address` has the actual port. */
    listenerStarted(chain: string, apiInterface: ApiInterface, address: Address) {
      const bound = formatAddress(address)
      logger.info('listener started', { chain, interface: apiInterface, address: bound })
    },
    /** An upstream began to work only in part or, with null, recovered. */
    troubleChanged({ chain, interface: iface, upstream }: LogFields, why: string | null) {
      const fields = { chain, interface: iface, upstream }
      if (why === null) logger.info('upstream works again', fields)
      else logger.warn('upstream works only in part', { ...fields, why })
    },
    /** A method began to return almost only node errors or, with null, recovered. */
    methodChanged({ chain, interface: iface, method }: LogFields, why: string | null) {
      const fields = { chain, interface: iface, method }
      if (why === null) logger.info('method no longer fails', fields)
      else logger.warn('method fails', { ...fields, why })
    },
    relayObserver: perListener((labels) => relayLog(logger, clock, labels)),
    poolObserver: perListener((labels) => poolLog(logger, clock, labels)),
    subscriptionObserver: perListener((labels) => subscriptionLog(logger, clock, labels)),
    crossValidationObserver: perListener((labels) => validationLog(logger, clock, labels)),
    listenerObserver: perListener((labels) => listenerLog(logger, clock, labels)),
  }
}

function relayLog(logger: Logger, clock: Clock, labels: LogFields): RelayObserver {
  const takeDebug = lineLimits(logger, clock, labels)(debugRelayRate, 'info', 'attempts')
  const violations = violationLog(logger, clock, labels)
  const limit = lineLimits(logger, clock, labels)
  const takeMismatch = limit(violationRate, 'warn', 'mismatches of logs')
  return {
    attemptEnded(call, attempt) {
      violations(call, attempt)
      if (!call.directives.debugRelay || !takeDebug()) return
      logger.info('attempt ended', {
        ...labels,
        guid: call.guid,
        method: methodOf(call),
        upstream: attempt.upstream,
        kind: attempt.kind,
        result: resultOf(attempt),
        durationMs: durationOf(attempt),
        detail: evidenceOf(attempt) ?? undefined,
      })
    },
    logsMismatched(call, upstreams, verdict) {
      if (!takeMismatch()) return
      const about = { ...labels, guid: call.guid, method: methodOf(call) }
      const fields = { ...about, upstreams: upstreams.join(', '), verdict }
      logger.warn('upstreams differ about logs of final blocks', fields)
    },
    breakerChanged(open) {
      if (open) logger.warn('breaker opened: calls fail at once', labels)
      else logger.info('breaker closed: an upstream is available again', labels)
    },
  }
}

/** Rate-limited per upstream and check, because a faulty node fails on every request. */
function violationLog(logger: Logger, clock: Clock, labels: LogFields) {
  const takes = new Map<string, TakeLine>()
  return (call: Call, { upstream, violation }: AttemptRecord) => {
    if (!violation) return
    const { check, detail } = violation
    const fields = { ...labels, upstream, check }
    const key = `${check} ${upstream}`
    const take =
      takes.get(key) ?? lineLimits(logger, clock, fields)(violationRate, 'warn', 'violations')
    takes.set(key, take)
    if (!take()) return
    const about = { ...fields, guid: call.guid, method: methodOf(call), detail }
    logger.warn('answer does not match its request', about)
  }
}

/** Rate-limited per upstream; logs both answers as evidence. */
function validationLog(
  logger: Logger,
  clock: Clock,
  labels: LogFields,
): Pick<CrossValidationObserver, 'finalizedMismatch'> {
  const takeOf = memo((upstream) =>
    lineLimits(logger, clock, { ...labels, upstream })(violationRate, 'warn', 'mismatches'),
  )
  return {
    finalizedMismatch(call, { upstream, answer, excerpt }, agreed) {
      if (!takeOf(upstream)()) return
      const about = { ...labels, guid: call.guid, method: methodOf(call) }
      logger.error('upstreams differ about a finalized block', {
        ...about,
        ...{ upstream, digest: answer, excerpt },
        agreedBy: agreed?.upstream,
        agreedDigest: agreed?.answer,
        agreedExcerpt: agreed?.excerpt,
      })
    },
  }
}

function listenerLog(
  logger: Logger,
  clock: Clock,
  labels: LogFields,
): Pick<ListenerObserver, 'callEnded' | 'requestRefused'> {
  const limit = lineLimits(logger, clock, labels)
  const takeFailure = limit(failureRate, 'warn', 'failed requests')
  const takeDebug = limit(failureRate, 'debug', 'requests')
  return {
    callEnded(call, end, durationMs) {
      const outcome = outcomeOf(call, end)
      if (!isFailure(outcome)) {
        if (logger.writes('debug') && takeDebug())
          logger.debug('request ended', { ...labels, ...storyOf(call, end, outcome, durationMs) })
        return
      }
      if (!takeFailure()) return
      const level = outcome === errorKinds.internal.reason ? 'error' : 'warn'
      logger[level]('request failed', { ...labels, ...storyOf(call, end, outcome, durationMs) })
    },
    requestRefused(error, guid, client) {
      if (error.kind === errorKinds.internal) {
        if (takeFailure())
          logger.error('request failed', { ...labels, guid, ...clientFields(client), error })
        return
      }
      if (logger.writes('debug') && takeDebug())
        logger.debug('request refused', { ...labels, guid, ...clientFields(client), error })
    },
  }
}

/** Logs state changes in the pool of one chain and interface: what, why, and until when. */
function poolLog(logger: Logger, clock: Clock, labels: LogFields): PoolObserver {
  const ends: Partial<Record<UpstreamState, string>> = {
    disabled: 'it answers a probe',
    rejected: 'it passes verification, which is retried within 30 s',
    lagging: 'it has caught up; until then it gets no calls for the newest blocks',
  }
  const limitsOf = memo((upstream) => {
    const limit = lineLimits(logger, clock, { ...labels, upstream })
    // The line that reports suppressed lines includes the latest state.
    let now: UpstreamState | null = null
    return {
      enter: (state: UpstreamState) => (now = state),
      takeState: limit(stateRate, 'warn', 'state changes', () => ({ now })),
      takeVerification: limit(verificationRate, 'warn', 'failed verifications'),
      takeUrl: limit(stateRate, 'warn', 'changes of URLs'),
      takeCooldown: limit(cooldownRate, 'warn', 'cooldowns'),
    }
  })
  return {
    stateChanged(upstream, from, { state: to, why, until: latest }) {
      const { enter, takeState } = limitsOf(upstream)
      enter(to)
      if (!takeState()) return
      const level = to === 'rejected' ? 'error' : to === 'disabled' ? 'warn' : 'info'
      const until = latest === null ? ends[to] : `${ends[to]}, at the latest ${latest}`
      logger[level]('upstream changed state', { ...labels, upstream, from, to, why, until })
    },
    cooldownBegan(upstream, url, forMs, why) {
      if (!limitsOf(upstream).takeCooldown()) return
      const fields = {
        url,
        why,
        cooldownMs: Math.round(forMs),
        until: timeOf(clock.wallMs() + forMs),
      }
      logger.warn('upstream URL in cooldown', { ...labels, upstream, ...fields })
    },
    urlChanged(upstream, { position, url, why }, serving) {
      if (!limitsOf(upstream).takeUrl()) return
      const fields = { ...labels, upstream, position, url, why: why ?? undefined, serving }
      if (why === null) logger.info('upstream URL serves again', fields)
      else logger.warn('upstream URL does not serve', fields)
    },
    dayUsed(upstream, url, why) {
      logger.warn('upstream URL at its limit', { ...labels, upstream, url, why })
    },
    verificationFailed(upstream, url, verification, why) {
      if (!limitsOf(upstream).takeVerification()) return
      logger.warn('verification failed', { ...labels, upstream, url, verification, why })
    },
    reorged({ depth, block, usualDepth }) {
      if (depth > usualDepth)
        logger.warn('reorg deeper than usual', { ...labels, depth, block, usualDepth })
    },
  }
}

/** Logs subscription events of one chain and interface. */
function subscriptionLog(
  logger: Logger,
  clock: Clock,
  labels: LogFields,
): Omit<SubscriptionObserver, 'clientsChanged' | 'upstreamChanged' | 'duplicateDropped'> {
  const limit = lineLimits(logger, clock, labels)
  const takeMove = limit(moveRate, 'info', 'moves of subscriptions')
  const takeDelay = limit(delayRate, 'warn', 'delays of subscriptions')
  const takeFailure = limit(endRate, 'error', 'failures of subscriptions')
  return {
    joined(topic, upstream) {
      if (!takeMove()) return
      logger.info('subscription joined an upstream', { ...labels, topic, upstream })
    },
    left(topic, upstream, why) {
      if (!takeMove()) return
      logger.warn('subscription left its upstream', { ...labels, topic, upstream, why })
    },
    filled(topic, blocks) {
      if (takeMove()) logger.info('subscription backfilled', { ...labels, topic, blocks })
    },
    fetchFailed(topic, forMs, why) {
      if (forMs < quietForMs || !takeDelay()) return
      const delayMs = Math.round(forMs)
      logger.warn('subscription delayed', { ...labels, topic, delayMs, why })
    },
    ended(topic, reason) {
      if (takeFailure()) logger.error('subscription ended', { ...labels, topic, reason })
    },
    failed(topic, error) {
      if (!takeFailure()) return
      logger.error('subscription failed', { ...labels, topic, error: error as Error })
    },
  }
}

function storyOf(call: Call, end: CallEnd, outcome: string, durationMs: number) {
  return {
    guid: call.guid,
    ...clientFields(call.client, call),
    traceId: call.journal.traceId ?? call.directives.trace?.parent.split('-', 2)[1],
    method: methodOf(call),
    outcome,
    durationMs: Math.round(durationMs),
    attempts: summaryOf(call.journal.attempts),
    error: end.kind === 'error' ? end.error : undefined,
  }
}

/** `node-a first connection-refused 2ms (ECONNREFUSED); node-b retry attempt-timeout 1000ms`. */
function summaryOf(attempts: readonly AttemptRecord[]): string {
  const shown = attempts.slice(0, 10).map((attempt) => {
    const { upstream, kind } = attempt
    const durationMs = durationOf(attempt)
    const took = durationMs === undefined ? '' : ` ${durationMs}ms`
    const evidence = evidenceOf(attempt)
    return `${upstream} ${kind} ${resultOf(attempt)}${took}${evidence === null ? '' : ` (${evidence})`}`
  })
  if (attempts.length > shown.length) shown.push(`${attempts.length - shown.length} more`)
  return shown.length === 0 ? 'none' : shown.join('; ')
}

function durationOf({ startedMs, endedMs }: AttemptRecord): number | undefined {
  return endedMs === null ? undefined : Math.round(endedMs - startedMs)
}
