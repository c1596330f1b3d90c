// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../clock/clock.ts'
import { Sessions } from '../sessions.ts'

/** Sessions without a shared store, for tests. */
export function privateSessions(clock: Clock): Sessions {
  return new Sessions({ clock, keys: null, lifetimeMs: 1_800_000, count: () => {} })
}
