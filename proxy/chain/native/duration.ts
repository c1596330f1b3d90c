// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseDuration } from '../../config/duration.ts'

/** Milliseconds of a duration that the schema has checked, such as `1m30s`. */
export function durationMs(text: string): number {
  const ms = parseDuration(text)
  if (ms === null) throw new Error(`${text} is no duration, and the schema let it pass`)
  return Math.round(ms)
}
