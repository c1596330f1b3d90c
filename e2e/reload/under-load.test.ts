// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { test } from 'vitest'
import { expectUnharmed } from './under-load.fixture.ts'

test('30 changes of a config under load fail no read, no session, no subscription and no stream', () =>
  expectUnharmed(30, 100))
