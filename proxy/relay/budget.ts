// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Step } from './step.ts'

/** Gives the call its whole relay budget; every attempt is bounded by what is left of it. */
export function budget(processingTimeoutMs: number): Step {
  return (next) => (call) => {
    call.journal.deadlineMs = call.journal.startedMs + processingTimeoutMs
    return next(call)
  }
}
