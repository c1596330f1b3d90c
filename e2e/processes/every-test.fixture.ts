// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { releasePorts } from './free-ports.ts'

/* Runs before each file of tests. */

/** Properties try the same cases in each run; `SEED=n make test` tries others. */
fc.configureGlobal({ seed: Number(process.env['SEED'] || 1) })

afterAll(releasePorts)
