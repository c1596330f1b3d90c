// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export type UpstreamState = 'unverified' | 'eligible' | 'disabled' | 'lagging' | 'rejected'

/** Hears what becomes of the upstreams of one listener; metrics and logs are made from it. */
export interface PoolObserver {
  stateChanged(upstream: string, from: UpstreamState, to: UpstreamState, why: string): void
  /** A URL is left alone for a while. `url` is printable. */
  heldOff(upstream: string, url: string, holdOffMs: number): void
  verificationFailed(upstream: string, url: string, verification: string, why: string): void
}
