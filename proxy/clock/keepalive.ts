// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'

export interface KeepaliveOptions {
  readonly clock: Clock
  /** Interval between checks for received data. */
  readonly everyMs: number
  /** Total data received so far, in any unit. */
  readonly received: () => number
  /** Called after an interval without data: the peer should now respond. */
  readonly ask: () => void
  /** Called once when the peer did not respond; no callbacks follow. */
  readonly lost: () => void
}

/**
 * Detects a dead peer on a connection that was never closed, such as a host without power or a lost
 * NAT entry. A silent peer is pinged within two checks, and counts as lost at the next one.
 * @returns stops the checks
 */
export function keepalive({ clock, everyMs, received, ask, lost }: KeepaliveOptions): Cancel {
  let lastReceived = received()
  let isPinged = false
  let cancel: Cancel = () => {}
  const check = () => {
    const isSilent = received() === lastReceived
    if (isSilent && isPinged) return lost()
    lastReceived = received()
    isPinged = isSilent
    if (isSilent) ask()
    scheduleCheck()
  }
  const scheduleCheck = () => {
    cancel = clock.after(everyMs, () => {
      // Reads data that arrived while the process was suspended before it decides.
      if (isPinged && received() === lastReceived) cancel = clock.after(0, check)
      else check()
    })
  }
  scheduleCheck()
  return () => cancel()
}
