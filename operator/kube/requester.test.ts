// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { readNothing } from './answers.ts'
import { type ApiRequest, Requester } from './requester.ts'

const resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true }
const { signal } = new AbortController()

/** Returns a requester whose requests all get this answer. */
function requesterOf(status: number, text: string) {
  const transport = {
    async send() {
      return { status, header: () => null, body: [Buffer.from(text)] }
    },
  }
  return new Requester({
    transport: transport as never,
    clock: new VirtualClock(),
    limit: { perSecond: 10, burst: 10 },
    observer: {},
  })
}

const request = (method: ApiRequest['method']): ApiRequest => ({
  resource,
  verb: 'get',
  method,
  path: '/api/v1/things',
  timeoutMs: 1_000,
})

test.each([
  ['a Status', '{"kind":"Status","message":"things is forbidden"}', 'things is forbidden'],
  ["a proxy's page", '<h1>denied by the gateway</h1>', 'denied by the gateway'],
  ["a proxy's JSON", '{"error":"denied by the gateway"}', 'denied by the gateway'],
  ['null', 'null', 'null'],
])('a refusal with %s is reported with its text', async (_, text, words) => {
  const requester = requesterOf(403, text)
  await expect(requester.send(request('GET'), signal, readNothing)).rejects.toThrow(words)
})
