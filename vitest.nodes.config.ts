// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { defineConfig } from 'vitest/config'
import { checkNode } from './scripts/check-node.ts'

checkNode()

/** Real nodes with real clients: `make test-nodes`. They take seconds to start and much memory. */
export default defineConfig({
  test: {
    include: ['e2e/nodes/suites/**/*.test.ts'],
    pool: 'threads',
    maxWorkers: 2,
    testTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 180_000,
  },
})
