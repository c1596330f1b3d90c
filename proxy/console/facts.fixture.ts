// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainFacts, Facts, UpstreamFacts } from './facts.ts'

/** Seconds after the start of the process as a time of the day. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 31, 3) + seconds * 1_000).toISOString()
}

export function someFacts(seconds: number, chains: readonly ChainFacts[], more = {}): Facts {
  return {
    ...{ at: at(seconds), started: at(0), version: '1.2.3' },
    config: { sha256: 'ab12', since: at(0), refused: null },
    bounds: [0.1, 1, 10],
    chains,
    ...more,
  }
}

export function someChain(
  upstreams: readonly UpstreamFacts[],
  more: Partial<ChainFacts> = {},
): ChainFacts {
  return {
    ...{ chain: 'ETH1', interface: 'jsonrpc', addresses: ['0.0.0.0:3360'] },
    ...{ tip: 100, tipAgeSeconds: 3, blockSeconds: 12, breakerOpen: false },
    ...{ outcomes: {}, durations: [0, 0, 0, 0], cache: {}, upstreams },
    ...more,
  }
}

export function someUpstream(name: string, more: Partial<UpstreamFacts> = {}): UpstreamFacts {
  return {
    ...{ name, tier: 'primary', state: 'eligible', why: null, since: at(0), until: null },
    ...{ latestBlock: 100, lagBlocks: 0, lagSeconds: 0, score: 1, latencySeconds: 0.05 },
    ...{ sessions: 0, cooldownSeconds: null, attempts: {}, durations: [0, 0, 0, 0], disputes: {} },
    ...more,
  }
}
