// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Ask } from '../ask.ts'
import type { ChainKit } from '../chain-kit.ts'
import { EthereumLogs } from './ethereum-logs.ts'
import { EthereumReader } from './ethereum-reader.ts'

/** Heads, and the logs of their blocks. */
export function ethereumKit(ask: Ask): ChainKit {
  const heads = {
    request: {
      isNamed: true,
      method: 'eth_subscribe',
      params: ['newHeads'],
      unsubscribe: (id: unknown) => ({ method: 'eth_unsubscribe', params: [id] }),
    },
    reader: new EthereumReader(ask),
    followsTip: true,
  }
  return {
    sequenceOf: ({ kind }) => (kind === 'live' ? null : 'newHeads'),
    sequence: () => heads,
    derived({ kind, params }) {
      const [, filter] = params as readonly unknown[]
      return kind === 'logs' ? new EthereumLogs(ask, filter) : null
    },
  }
}
