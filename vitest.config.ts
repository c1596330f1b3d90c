// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{operator,proxy,e2e,bench,scripts}/**/*.test.ts'],
    // They need real nodes: vitest.nodes.config.ts.
    exclude: [...configDefaults.exclude, 'e2e/nodes/suites/**'],
    pool: 'threads',
    testTimeout: 20_000,
  },
})
