// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { releasePorts } from './free-ports.ts'

/* Runs before each test file. */

/** The fixed seed makes runs reproducible; `SEED=n make test` tries other cases. */
fc.configureGlobal({ seed: Number(process.env['SEED'] || 1) })

afterAll(releasePorts)
