// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ApiError } from './errors.ts'
import type { KubeObject, Resource } from './object.ts'
import { listAll } from './reflector.ts'

const things: Resource = {
  group: 'g',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
}
const { signal } = new AbortController()
const item = (name: string): KubeObject => ({
  apiVersion: 'g/v1',
  kind: 'Thing',
  metadata: { name },
})

function clientOf(answers: readonly (object | Error)[]) {
  const requests: object[] = []
  const list = (_: unknown, options: object) => {
    requests.push(options)
    const answer = answers[requests.length - 1]
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  return { client: { list } as never, requests }
}

const expired = new ApiError('GET', 410, { reason: 'Expired' })
const first = { items: [item('a')], resourceVersion: '5', continue: 'more' }

test('listAll fetches all pages', async () => {
  const last = { items: [item('b')], resourceVersion: '5' }
  const { client, requests } = clientOf([first, last])
  const all = await listAll(client, things, { namespace: 'ns' }, signal)
  expect(all).toEqual({ items: [item('a'), item('b')], resourceVersion: '5' })
  expect(requests).toEqual([
    { namespace: 'ns', limit: 500 },
    { namespace: 'ns', limit: 500, continue: 'more' },
  ])
})

test('a version that expires between pages leads to one full list without duplicates', async () => {
  const whole = { items: [item('a'), item('b')], resourceVersion: '9' }
  const { client, requests } = clientOf([first, expired, whole])
  const all = await listAll(client, things, {}, signal)
  expect(all).toEqual({ items: [item('a'), item('b')], resourceVersion: '9' })
  expect(requests.at(-1)).toEqual({})
})

test.each([
  ['the first page', [expired]],
  ['the full list', [first, expired, expired]],
])('a refusal of %s is reported', async (_, answers) => {
  await expect(listAll(clientOf(answers).client, things, {}, signal)).rejects.toBe(expired)
})
