// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { configDefaults, defineConfig } from 'vitest/config'

const onRealApi = 'e2e/kube/**/*.test.ts'

export default defineConfig({
  test: {
    pool: 'threads',
    // What hangs is to be told; what runs on a busy machine is to pass.
    testTimeout: 60_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['{proxy,operator,e2e,bench,scripts}/**/*.test.ts'],
          // The suites of e2e/nodes need real nodes: vitest.nodes.config.ts.
          exclude: [...configDefaults.exclude, onRealApi, 'e2e/nodes/suites/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'kube',
          include: [onRealApi],
          globalSetup: 'e2e/kube/global-setup.ts',
        },
      },
    ],
  },
})
