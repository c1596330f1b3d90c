// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'

export interface KeepaliveOptions {
  readonly clock: Clock
  /** How often is looked whether anything came. */
  readonly everyMs: number
  /** How much has come from the other end so far, of whatever kind. */
  readonly received: () => number
  /** Nothing came since it was looked before: the other end is to give a sign of life. */
  readonly ask: () => void
  /** It was asked, and nothing came since. Called once, and then nothing any more. */
  readonly lost: () => void
}

/**
 * Notices when the other end of a connection is gone, though the connection was never closed: a host
 * without power, an address translation that forgot it. One that falls silent is asked within two looks,
 * and counts as lost at the next one.
 * @returns stops it
 */
export function keepalive({ clock, everyMs, received, ask, lost }: KeepaliveOptions): Cancel {
  let seen = received()
  let isAsked = false
  let cancel: Cancel = () => {}
  const look = () => {
    const isSilent = received() === seen
    if (isSilent && isAsked) return lost()
    seen = received()
    isAsked = isSilent
    if (isSilent) ask()
    lookLater()
  }
  const lookLater = () => {
    cancel = clock.after(everyMs, () => {
      // What came while this process stood still is read before the second timer.
      if (isAsked && received() === seen) cancel = clock.after(0, look)
      else look()
    })
  }
  lookLater()
  return () => cancel()
}
