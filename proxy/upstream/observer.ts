// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * What an upstream is fit for now. `held-off`: it is well, and every URL of it is in cooldown;
 * `lagging`: it serves all but the newest blocks.
 */
export const upstreamStates = [
  'unverified',
  'eligible',
  'lagging',
  'held-off',
  'disabled',
  'rejected',
] as const
export type UpstreamState = (typeof upstreamStates)[number]

/** Observes the upstreams of one chain and interface; metrics and logs are made from it. */
export interface PoolObserver {
  stateChanged(upstream: string, from: UpstreamState, to: UpstreamState, why: string): void
  /** Nothing is sent to a URL for a while. `url` is printable. */
  cooldownBegan(upstream: string, url: string, forMs: number): void
  verificationFailed(upstream: string, url: string, verification: string, why: string): void
}
