// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { configDefaults, defineConfig } from 'vitest/config'
import { checkNode } from './scripts/check-node.ts'

checkNode()

const onRealApi = [
  'e2e/kube/{chaos,chart}/*.slow.test.ts',
  'e2e/kube/alerts/operator-panels.slow.test.ts',
]

/** What takes minutes, on real programs: `make test-slow`. */
export default defineConfig({
  test: {
    pool: 'threads',
    env: { STORE_LOSSES: 'repeated' },
    testTimeout: 240_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['{proxy,operator,e2e}/**/*.slow.test.ts', 'e2e/state/store-loss.test.ts'],
          exclude: [...configDefaults.exclude, ...onRealApi],
        },
      },
      {
        extends: true,
        test: { name: 'kube', include: onRealApi, globalSetup: 'e2e/kube/global-setup.ts' },
      },
    ],
  },
})
