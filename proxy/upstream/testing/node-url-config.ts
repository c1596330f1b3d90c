// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Secret } from '../../config/secret.ts'
import type { NodeUrlConfig } from '../../config/types.ts'

/** Default config of one URL, with the changes of a test. */
export function nodeUrlConfig(url: string, different: Partial<NodeUrlConfig> = {}): NodeUrlConfig {
  return {
    url: new Secret(url, new URL(url).origin),
    scheme: new URL(url).protocol.slice(0, -1) as NodeUrlConfig['scheme'],
    timeoutMs: null,
    maxBatch: 100,
    limits: null,
    maxLogBlocks: null,
    compression: url.startsWith('https:'),
    traceContext: false,
    addons: [],
    skipVerifications: [],
    authHeaders: new Map(),
    authQuery: new Map(),
    tls: null,
    ...different,
  }
}
