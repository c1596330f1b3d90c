// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Ask } from '../ask.ts'
import type { ChainKit, Sequence } from '../chain-kit.ts'
import { TendermintReader } from './tendermint-reader.ts'

/** Blocks and their headers. */
export function tendermintKit(ask: Ask): ChainKit {
  const blocks = sequenceOf('NewBlock', new TendermintReader(ask, (block) => block.newBlock))
  const headers = sequenceOf(
    'NewBlockHeader',
    new TendermintReader(ask, (block) => block.newBlockHeader),
  )
  return {
    sequenceOf: ({ kind, name }) => (kind === 'live' ? null : name),
    sequence: (name) => (name === 'NewBlock' ? blocks : headers),
    derived: () => null,
  }
}

function sequenceOf(event: string, reader: TendermintReader): Sequence {
  const params = { query: `tm.event='${event}'` }
  return {
    request: {
      isNamed: true,
      method: 'subscribe',
      params,
      unsubscribe: () => ({ method: 'unsubscribe', params }),
    },
    reader,
    followsTip: true,
  }
}
