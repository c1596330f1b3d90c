// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { defineConfig } from 'vitest/config'
import { checkNode } from './scripts/check-node.ts'

checkNode()

/** What takes minutes, on real programs: `make test-slow`. */
export default defineConfig({
  test: {
    pool: 'threads',
    include: ['{proxy,operator,e2e}/**/*.slow.test.ts', 'e2e/state/store-loss.test.ts'],
    env: { STORE_LOSSES: 'repeated' },
    globalSetup: 'e2e/kube/global-setup.ts',
    testTimeout: 240_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
