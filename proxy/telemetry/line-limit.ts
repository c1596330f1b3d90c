// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { LogLevel } from '../config/types.ts'
import type { LogFields, Logger } from './log.ts'

/** So many lines in so long a time. */
export interface LineRate {
  readonly lines: number
  readonly perMs: number
}

/** Whether one more line may be written; when not, it was counted. */
export type TakeLine = () => boolean

/**
 * Keeps one kind of event from flooding the log. Time is cut into windows that begin with an event;
 * what comes after the first lines of a window is left out, and counted when the window ends, so
 * that the log never looks calmer than the router was.
 */
export function lineLimit(
  clock: Clock,
  { lines, perMs }: LineRate,
  reportLeftOut: (count: number) => void,
): TakeLine {
  let openedMs = Number.NEGATIVE_INFINITY
  let written = 0
  let leftOut = 0
  const endWindow = () => {
    const count = leftOut
    leftOut = 0
    openedMs = Number.NEGATIVE_INFINITY
    reportLeftOut(count)
  }
  return () => {
    const nowMs = clock.nowMs()
    if (leftOut === 0 && nowMs - openedMs >= perMs) {
      openedMs = nowMs
      written = 0
    }
    if (written < lines) {
      written += 1
      return true
    }
    leftOut += 1
    if (leftOut === 1) clock.after(openedMs + perMs - nowMs, endWindow)
    return false
  }
}

/** Limits of kinds of lines, each of which says in the log what it left out: `failed requests left out of the log`. */
export function lineLimits(logger: Logger, clock: Clock, labels: LogFields) {
  return (rate: LineRate, level: LogLevel, what: string, more?: () => LogFields): TakeLine =>
    lineLimit(clock, rate, (leftOut) => {
      logger[level](`${what} left out of the log`, { ...labels, leftOut, ...more?.() })
    })
}
