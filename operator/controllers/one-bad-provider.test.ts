// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { networkPolicies, rpcRouters, upstreamProviders } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/*
 * One bad provider never blocks the others.
 */

test('a provider with port 0 is excluded, and changes to the others reach the pods', async () => {
  await using harness = new OperatorHarness()
  for (const name of ['a', 'b', 'c', 'd', 'e']) harness.provider(name)
  harness.provider('zero', 'https://zero.example:0')
  harness.router('r')
  await harness.pass()
  harness.rollOut('r')
  harness.provider('a', 'https://a.example:8443')
  await harness.pass()
  expect(harness.conditions(upstreamProviders, 'zero')['Accepted']).toBe(
    'False/InvalidConfig@1: spec.nodeUrls[0].url: the value is a URL with port 0, to which no connection is possible. Write a port from 1 to 65535, or none for that of the scheme.',
  )
  expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
    Accepted: expect.stringMatching(
      /^True\/PartiallyAccepted@1: UpstreamProvider zero is excluded/,
    ),
    Programmed: expect.stringMatching(/^True/),
  })
  const { egress } = harness.get(networkPolicies, 'r-router').spec
  expect(egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))).toEqual([
    53, 53, 5353, 5353, 443, 8443,
  ])
})
