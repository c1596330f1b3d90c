// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainFacts, Counts, Facts, UpstreamFacts } from './facts.ts'

/** Seconds after the start of the process as a time of the day. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 31, 3) + seconds * 1_000).toISOString()
}

/** Durations: so many up to 0.1 s, so many more up to 1 s, to 10 s, and above. */
export function took(fast: number, slow = 0, slower = 0, above = 0): Counts {
  const [second, third] = [fast + slow, fast + slow + slower]
  return { 0.1: fast, 1: second, 10: third, '+Inf': third + above }
}

export function someFacts(seconds: number, chains: readonly ChainFacts[], more = {}): Facts {
  return {
    ...{ at: at(seconds), started: at(0), version: '1.2.3' },
    config: { sha256: 'ab12', since: at(0), refused: null },
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
    ...{ tip: 100, tipAgeSeconds: 3, blockSeconds: 12 },
    ...{ outcomes: {}, durations: took(0), cache: {}, upstreams },
    ...more,
  }
}

export function someUpstream(name: string, more: Partial<UpstreamFacts> = {}): UpstreamFacts {
  return {
    ...{ name, tier: 'primary', state: 'eligible', why: null, since: at(0), until: null },
    ...{ latestBlock: 100, lagBlocks: 0, lagSeconds: 0 },
    ...{ cooldownSeconds: null, attempts: {}, durations: took(0), disputes: {} },
    ...more,
  }
}
