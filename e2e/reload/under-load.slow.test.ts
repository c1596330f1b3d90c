// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { test } from 'vitest'
import { expectUnharmed } from './under-load.fixture.ts'

test('1,000 changes of a config under load fail nothing', { timeout: 900_000 }, () =>
  expectUnharmed(1_000, 10_000),
)
