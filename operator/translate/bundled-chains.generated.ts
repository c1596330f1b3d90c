// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
// Generated from specs/ by make generate; do not edit.
import type { ChainRow } from './known-chains.ts'

export const bundledChains: readonly ChainRow[] = [
  ['BTC', ['BITCOIN'], 'jsonrpc', ['archive'], ['chain-id', 'pruning']],
  ['BTC-REGTEST', ['BTCR'], 'jsonrpc', ['archive'], ['chain-id', 'pruning']],
  ['BTC-SIGNET', ['BTCS'], 'jsonrpc', ['archive'], ['chain-id', 'pruning']],
  ['BTC-TESTNET4', ['BTCT4'], 'jsonrpc', ['archive'], ['chain-id', 'pruning']],
  ['BTCT', ['BTC-TESTNET3'], 'jsonrpc', ['archive'], ['chain-id', 'pruning']],
  [
    'ETH1',
    ['ETH', 'ETHEREUM'],
    'jsonrpc',
    ['archive', 'debug', 'trace', 'bundler'],
    ['chain-id', 'pruning', 'enabled'],
  ],
  [
    'HOODI',
    [],
    'jsonrpc',
    ['archive', 'debug', 'trace', 'bundler'],
    ['chain-id', 'pruning', 'enabled'],
  ],
  ['HUBCHAIN', ['COSMOSHUB', 'COSMOS'], 'rest', ['archive'], ['chain-id', 'tx-indexing']],
  [
    'HUBCHAIN',
    ['COSMOSHUB', 'COSMOS'],
    'tendermintrpc',
    ['archive'],
    ['chain-id', 'tx-indexing', 'pruning'],
  ],
  ['HUBCHAIN', ['COSMOSHUB', 'COSMOS'], 'grpc', ['archive'], ['chain-id', 'tx-indexing']],
  ['HUBCHAINT', ['COSMOSHUBT'], 'rest', ['archive'], ['chain-id', 'tx-indexing']],
  [
    'HUBCHAINT',
    ['COSMOSHUBT'],
    'tendermintrpc',
    ['archive'],
    ['chain-id', 'tx-indexing', 'pruning'],
  ],
  ['HUBCHAINT', ['COSMOSHUBT'], 'grpc', ['archive'], ['chain-id', 'tx-indexing']],
  ['MOVECHAIN', ['APT1', 'APTOS'], 'rest', ['archive'], ['chain-id', 'pruning']],
  [
    'MOVECHAINT',
    ['MOVECHAIN-TESTNET', 'APT1T', 'APTOS-TESTNET'],
    'rest',
    ['archive'],
    ['chain-id', 'pruning'],
  ],
  [
    'PERPEVM',
    ['HYPERLIQUID', 'HYPEREVM'],
    'jsonrpc',
    ['archive', 'debug', 'trace', 'bundler'],
    ['chain-id', 'pruning', 'enabled'],
  ],
  [
    'PERPEVMT',
    ['HYPERLIQUIDT'],
    'jsonrpc',
    ['archive', 'debug', 'trace', 'bundler'],
    ['chain-id', 'pruning', 'enabled'],
  ],
  [
    'SEP1',
    ['SEPOLIA'],
    'jsonrpc',
    ['archive', 'debug', 'trace', 'bundler'],
    ['chain-id', 'pruning', 'enabled'],
  ],
  ['SLOTCHAIN', ['SOLANA', 'SOL'], 'jsonrpc', ['archive'], ['chain-id', 'pruning']],
  [
    'SLOTCHAIND',
    ['SLOTCHAIN-DEVNET', 'SOLANAD', 'SOLANA-DEVNET'],
    'jsonrpc',
    ['archive'],
    ['chain-id', 'pruning'],
  ],
]
