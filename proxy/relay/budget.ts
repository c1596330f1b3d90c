// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Step } from './step.ts'

/**
 * Gives the call its whole relay budget, or less where its client has a deadline of its own; every
 * attempt is bounded by what is left of it.
 */
export function budget(processingTimeoutMs: number): Step {
  return (next) => (call) => {
    const { journal } = call
    journal.deadlineMs = Math.min(journal.deadlineMs, journal.startedMs + processingTimeoutMs)
    return next(call)
  }
}
