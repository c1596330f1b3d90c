// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Ask } from '../ask.ts'
import type { ChainKit, Sequence } from '../chain-kit.ts'
import { TendermintReader } from './tendermint-reader.ts'
import { TendermintTransactions, TransactionsOfBlocks } from './tendermint-transactions.ts'

/** Blocks, headers, and the transactions of the blocks that the headers tell of. */
export function tendermintKit(ask: Ask): ChainKit {
  const blocks = sequenceOf('NewBlock', new TendermintReader(ask, (block) => block.newBlock))
  const headers = sequenceOf(
    'NewBlockHeader',
    new TendermintReader(ask, (block) => block.newBlockHeader),
  )
  const transactions = new TransactionsOfBlocks(ask)
  return {
    sequenceOf({ kind }) {
      if (kind === 'live') return null
      return kind === 'blocks' ? 'NewBlock' : 'NewBlockHeader'
    },
    sequence: (name) => (name === 'NewBlock' ? blocks : headers),
    derived: ({ kind, key }) =>
      kind === 'transactions' ? new TendermintTransactions(transactions, key) : null,
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
