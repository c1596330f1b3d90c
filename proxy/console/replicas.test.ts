// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { at, someFacts } from './facts.fixture.ts'
import { looksOf, Replicas } from './replicas.ts'
import { viewOf } from './view.ts'

test.each([
  ['<html>', /^its \/facts is not that of a router: .*not valid JSON/],
  ['null', /^its \/facts is not that of a router: it names no chains$/],
  ['{"chains":1}', /^its \/facts is not that of a router: it names no chains$/],
])('another program that answers %s is a problem of the view', async (text, why) => {
  const server = createServer((_, answer) => answer.end(text))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const replicas = new Replicas(new Map([['a:7779', url]]))
  await replicas.ask()
  server.closeAllConnections()
  server.close()
  const { problems } = replicas.view
  expect(problems).toMatchObject([{ severity: 'down', where: 'a:7779' }])
  expect(problems[0]?.what).toMatch(why)
})

test.each([
  [at(60), '; its clients wait until it is killed and replaced, after 10 s'],
  [null, ''],
])('a worker that is silent since %s is a problem of its own', (silentSince, fate) => {
  const one = { worker: 1, facts: null, silentSince }
  const two = { worker: 2, facts: someFacts(60, []), silentSince: null }
  const { problems } = viewOf(looksOf('a:7779', { workers: [one, two] }))
  const what = `it does not answer its supervisor${fate}`
  expect(problems).toMatchObject([
    { severity: 'down', where: 'a:7779 worker 1', what, since: silentSince },
  ])
})
