// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { decoderTaking, startGoDecoder } from '../../fuzz/decoders.ts'
import { expectSameReadings } from '../../fuzz/same-reading.ts'

test("Go's encoding/json and other decoders read the classified call", async () => {
  await using go = await startGoDecoder()
  const request = '{"method":"a","params":[{"to":"x"}],"PARAM\u017f":[{"to":"x","T\\u006f":"y"}]}'
  expect(await go.decode(request)).toEqual([{ id: null, method: 'a', params: [{ to: 'y' }] }])
  const others = [decoderTaking('first'), decoderTaking('last')]
  await expectSameReadings([go.decode, ...others], { numRuns: 200, seed: 2 })
})
