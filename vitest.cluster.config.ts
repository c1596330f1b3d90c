// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { defineConfig } from 'vitest/config'
import { checkNode } from './scripts/check-node.ts'

checkNode()

/** On a cluster that runs pods: `make e2e`. One file after the other, since they share it. */
export default defineConfig({
  test: {
    include: ['e2e/cluster/**/*.test.ts'],
    globalSetup: 'e2e/cluster/global-setup.ts',
    pool: 'threads',
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 300_000,
  },
})
