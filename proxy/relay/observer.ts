// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AttemptRecord } from './journal.ts'
import type { Call } from './call.ts'

/** Hears what the relay does; metrics and logs are made from it. Must not throw. */
export interface RelayObserver {
  attemptEnded(call: Call, attempt: AttemptRecord): void
  breakerChanged(open: boolean): void
}
