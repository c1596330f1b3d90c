// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest } from '../../hex.ts'
import { gasUnitPrice, gasUsed, type LedgerEntry, type MoveChain } from './chain.ts'
import type { MoveTransaction } from './transaction.ts'

/* The objects of the node's REST API. */

/** An entry of the ledger as the node shows it. */
export function entryJson(chain: MoveChain, { version, hash, height, kind, sent }: LedgerEntry) {
  const word = (name: string) => `0x${digest(chain.seed, name, version).toString('hex')}`
  const common = {
    type: kind,
    version: String(version),
    hash,
    state_change_hash: word('state-change'),
    event_root_hash: word('events'),
    state_checkpoint_hash: kind === 'state_checkpoint_transaction' ? word('checkpoint') : null,
    gas_used: kind === 'user_transaction' ? String(gasUsed) : '0',
    success: true,
    vm_status: 'Executed successfully',
    accumulator_root_hash: word('root'),
    changes: [],
    timestamp: String(chain.wallMsOf(height) * 1000),
  }
  if (kind === 'block_metadata_transaction')
    return {
      ...common,
      id: chain.blockHash(height),
      epoch: '9000',
      round: String(height),
      events: [],
    }
  if (kind === 'state_checkpoint_transaction') return common
  return { ...common, ...userFields(sent ?? ownTransaction(chain, version)), events: [] }
}

/** A transaction that waits for its block. */
export function pendingJson(sent: MoveTransaction) {
  return { type: 'pending_transaction', hash: sent.hash, ...userFields(sent) }
}

function userFields(sent: Omit<MoveTransaction, 'hash' | 'chainId'>) {
  return {
    sender: sent.sender,
    sequence_number: String(sent.sequenceNumber),
    max_gas_amount: sent.maxGasAmount,
    gas_unit_price: sent.gasUnitPrice,
    expiration_timestamp_secs: sent.expirationSeconds,
    payload: {
      type: 'entry_function_payload',
      function: '0x1::aptos_account::transfer',
      type_arguments: [],
      arguments: [],
    },
    signature: null,
  }
}

function ownTransaction(chain: MoveChain, version: number) {
  return {
    sender: `0x${digest(chain.seed, 'sender', version).toString('hex')}`,
    sequenceNumber: version % 1_000,
    maxGasAmount: '2000',
    gasUnitPrice: String(gasUnitPrice),
    expirationSeconds: '4102444800',
  }
}
