// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import networkHelpers from '@nomicfoundation/hardhat-network-helpers'
import testRunner from '@nomicfoundation/hardhat-node-test-runner'
import viem from '@nomicfoundation/hardhat-viem'
import { defineConfig } from 'hardhat/config'

export default defineConfig({
  plugins: [viem, networkHelpers, testRunner],
  // The compiler comes from npm, so that no build downloads one.
  solidity: { version: '0.8.30', path: fileURLToPath(import.meta.resolve('solc/soljson.js')) },
  networks: { rpc: { type: 'http', url: process.env.RPC_URL ?? 'http://127.0.0.1:8545' } },
})
