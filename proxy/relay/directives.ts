// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What the client asked of the router itself, by request headers. */
export interface Directives {
  /** `rpc-select-provider`: this upstream first. */
  readonly selectProvider: string | null
  /** `rpc-providers-block`: never these. */
  readonly blockProviders: readonly string[]
  /** `rpc-extension`: lower case; only upstreams that declare it. */
  readonly extension: string | null
  /** `rpc-relay-timeout`: per attempt, verbatim. */
  readonly relayTimeoutMs: number | null
  /** `rpc-debug-relay`: a log line per attempt. */
  readonly debugRelay: boolean
}

export const noDirectives: Directives = {
  selectProvider: null,
  blockProviders: [],
  extension: null,
  relayTimeoutMs: null,
  debugRelay: false,
}
