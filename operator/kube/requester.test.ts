// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import { NotLeadingError } from './errors.ts'
import { type ApiRequest, Requester } from './requester.ts'
import type { WireRequest } from './transport.ts'

const resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true }
const { signal } = new AbortController()

/** A requester without the lead, and what reached its wire. */
function withoutLead() {
  const sent: WireRequest['method'][] = []
  const transport = {
    async send({ method }: WireRequest) {
      sent.push(method)
      return { status: 200, header: () => null, body: [Buffer.from('{}')] }
    },
  }
  const requester = new Requester({
    transport: transport as never,
    clock: new VirtualClock(),
    limit: { perSecond: 10, burst: 10 },
    mayWrite: () => {
      throw new NotLeadingError('held back')
    },
    observer: {},
  })
  return { requester, sent }
}

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
      await expect(requester.send(request(method), signal)).rejects.toThrow(NotLeadingError)
      expect(sent).toEqual([])
    },
  )

  test('a GET goes out', async () => {
    const { requester, sent } = withoutLead()
    await requester.send(request('GET'), signal)
    expect(sent).toEqual(['GET'])
  })
})
