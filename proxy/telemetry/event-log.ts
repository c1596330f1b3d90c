// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Address, ApiInterface } from '../config/types.ts'
import type { CallEnd, ListenerObserver } from '../listener/listener.ts'
import type { AttemptRecord, Call, RelayObserver } from '../relay/call.ts'
import { errorKinds } from '../relay/errors.ts'
import { lineLimits, type LineRate, type TakeLine } from './line-limit.ts'
import type { LogFields, Logger } from './log.ts'
import type { PartialObservers } from './observers.ts'
import { isFailure, outcomeOf, resultOf } from './outcome.ts'
import { poolLog } from './pool-log.ts'
import { subscriptionLog } from './subscription-log.ts'

/** Writes what happens as lines of the log. */
export interface EventLog extends PartialObservers {
  /** A listener is bound; `address` has the real port. */
  listenerStarted(chainId: string, apiInterface: ApiInterface, address: Address): void
}

interface EventLogOptions {
  readonly logger: Logger
  readonly clock: Clock
}

/** Of one listener. Failures come in floods, and a client may ask for `rpc-debug-relay` always. */
const failureRate: LineRate = { lines: 20, perMs: 1_000 }
const violationRate: LineRate = { lines: 1, perMs: 60_000 }
const debugRelayRate: LineRate = { lines: 100, perMs: 1_000 }

export function createEventLog(options: EventLogOptions): EventLog {
  const { logger, clock } = options
  return {
    listenerStarted(chain, apiInterface, address) {
      const { host, port } = address
      const bound = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
      logger.info('listener started', { chain, interface: apiInterface, address: bound })
    },
    relayObserver: (chain, apiInterface) =>
      relayLog(logger, clock, { chain, interface: apiInterface }),
    poolObserver: (chain, apiInterface) =>
      poolLog(logger, clock, { chain, interface: apiInterface }),
    subscriptionObserver: (chain, apiInterface) =>
      subscriptionLog(logger, clock, { chain, interface: apiInterface }),
    listenerObserver: (chain, apiInterface) =>
      listenerLog(logger, clock, { chain, interface: apiInterface }),
  }
}

function relayLog(logger: Logger, clock: Clock, labels: LogFields): RelayObserver {
  const takeDebug = lineLimits(logger, clock, labels)(debugRelayRate, 'info', 'attempts')
  const violations = violationLog(logger, clock, labels)
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
        detail: attempt.detail ?? undefined,
      })
    },
    breakerChanged(open) {
      if (open) logger.warn('breaker opened: calls fail at once', labels)
      else logger.info('breaker closed: an upstream may be asked again', labels)
    },
  }
}

/** Once for each upstream and check in a while: a wrong node is wrong on every request. */
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
    const told = { ...fields, guid: call.guid, method: methodOf(call), detail }
    logger.warn('an answer does not fit its request', told)
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
        if (outcome !== 'success' && logger.writes('debug') && takeDebug())
          logger.debug('request ended', { ...labels, ...storyOf(call, end, outcome, durationMs) })
        return
      }
      if (!takeFailure()) return
      const level = outcome === errorKinds.internal.reason ? 'error' : 'warn'
      logger[level]('request failed', { ...labels, ...storyOf(call, end, outcome, durationMs) })
    },
    requestRefused(error, guid) {
      if (error.kind === errorKinds.internal) {
        if (takeFailure()) logger.error('request failed', { ...labels, guid, error })
        return
      }
      if (logger.writes('debug') && takeDebug())
        logger.debug('request refused', { ...labels, guid, error })
    },
  }
}

function storyOf(call: Call, end: CallEnd, outcome: string, durationMs: number) {
  return {
    guid: call.guid,
    method: methodOf(call),
    outcome,
    durationMs: Math.round(durationMs),
    attempts: summaryOf(call.journal.attempts),
    error: end.kind === 'error' ? end.error : undefined,
  }
}

/** A client may send any text as a method's name. */
function methodOf(call: Call): string {
  return call.asked.method.slice(0, 100)
}

/** `node-a first connection-refused 2ms (ECONNREFUSED); node-b retry attempt-timeout 1000ms`. */
function summaryOf(attempts: readonly AttemptRecord[]): string {
  const told = attempts.slice(0, 10).map((attempt) => {
    const { upstream, kind, detail } = attempt
    const durationMs = durationOf(attempt)
    const took = durationMs === undefined ? '' : ` ${durationMs}ms`
    return `${upstream} ${kind} ${resultOf(attempt)}${took}${detail === null ? '' : ` (${detail.slice(0, 80)})`}`
  })
  if (attempts.length > told.length) told.push(`${attempts.length - told.length} more`)
  return told.length === 0 ? 'none' : told.join('; ')
}

function durationOf({ startedMs, endedMs }: AttemptRecord): number | undefined {
  return endedMs === null ? undefined : Math.round(endedMs - startedMs)
}
