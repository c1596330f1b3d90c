// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RelayConfig } from '../config/types.ts'
import type { Step } from './step.ts'

/**
 * Gives the call its whole relay budget of time and attempts, or less time where its client has a
 * deadline of its own; every attempt is bounded by what is left of it. What may rest has only the
 * deadline.
 */
export function budget({
  processingTimeoutMs,
  maxAttempts,
}: Pick<RelayConfig, 'processingTimeoutMs' | 'maxAttempts'>): Step {
  return (next) => (call) => {
    const { journal } = call
    journal.maxAttempts = call.asked.kind === 'write' ? Infinity : maxAttempts
    journal.budgetMs = processingTimeoutMs
    return next(call)
  }
}
