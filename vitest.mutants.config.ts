// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { defineConfig } from 'vitest/config'

/** The tests that stand beside the code that is mutated; `make mutants` runs them. */
export default defineConfig({
  test: { include: ['proxy/{relay,upstream,integrity}/**/*.test.ts'] },
})
