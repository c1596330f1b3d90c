// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import { readNothing } from './answers.ts'
import { NotLeadingError } from './errors.ts'
import { type ApiRequest, Requester } from './requester.ts'
import type { WireRequest } from './transport.ts'

const resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true }
const { signal } = new AbortController()

/** A requester, and what reached its wire, where each request gets this answer. */
function requesterOf(status: number, text: string, mayWrite = () => {}) {
  const sent: WireRequest['method'][] = []
  const transport = {
    async send({ method }: WireRequest) {
      sent.push(method)
      return { status, header: () => null, body: [Buffer.from(text)] }
    },
  }
  const requester = new Requester({
    transport: transport as never,
    clock: new VirtualClock(),
    limit: { perSecond: 10, burst: 10 },
    mayWrite,
    observer: {},
  })
  return { requester, sent }
}

const withoutLead = () =>
  requesterOf(200, '{}', () => {
    throw new NotLeadingError('held back')
  })

const request = (method: ApiRequest['method']): ApiRequest => ({
  resource,
  verb: 'get',
  method,
  path: '/api/v1/things',
  timeoutMs: 1_000,
})

describe('without the lead', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'a %s is held back before it costs a connection',
    async (method) => {
      const { requester, sent } = withoutLead()
      await expect(requester.send(request(method), signal, readNothing)).rejects.toThrow(
        NotLeadingError,
      )
      expect(sent).toEqual([])
    },
  )

  test('a GET goes out', async () => {
    const { requester, sent } = withoutLead()
    await requester.send(request('GET'), signal, readNothing)
    expect(sent).toEqual(['GET'])
  })
})

test.each([
  ['a Status', '{"kind":"Status","message":"things is forbidden"}', 'things is forbidden'],
  ['a page of a proxy', '<h1>denied by the gateway</h1>', 'denied by the gateway'],
  ['JSON of a proxy', '{"error":"denied by the gateway"}', 'denied by the gateway'],
  ['null', 'null', 'null'],
])('a refusal that is %s is told in its own words', async (_, text, words) => {
  const { requester } = requesterOf(403, text)
  await expect(requester.send(request('GET'), signal, readNothing)).rejects.toThrow(words)
})
