// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{operator,proxy,e2e,bench,scripts}/**/*.test.ts'],
    pool: 'threads',
    testTimeout: 20_000,
  },
})
