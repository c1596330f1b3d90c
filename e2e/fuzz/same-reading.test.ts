// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { test } from 'vitest'
import { decoderTaking } from './decoders.ts'
import { expectSameReadings } from './same-reading.ts'

test('decoders with other rules for duplicates and case read the classified call', async () => {
  const all = [decoderTaking('last', true), decoderTaking('first'), decoderTaking('last')]
  await expectSameReadings([...all, decoderTaking('first', true)], { numRuns: 200, seed: 1 })
})
