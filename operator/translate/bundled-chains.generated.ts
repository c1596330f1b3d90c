// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
// Generated from specs/ by make generate; do not edit.
import type { ChainRow } from './known-chains.ts'

export const bundledChains: readonly ChainRow[] = [
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
  [
    'SEP1',
    ['SEPOLIA'],
    'jsonrpc',
    ['archive', 'debug', 'trace', 'bundler'],
    ['chain-id', 'pruning', 'enabled'],
  ],
]
