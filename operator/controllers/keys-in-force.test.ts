// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Condition } from '../api/condition.ts'
import type { KubeObject } from '../kube/object.ts'
import {
  deployments,
  rpcRouters,
  secrets,
  services,
  upstreamProviders,
} from '../resources/kinds.ts'
import { secretHashesAnnotation } from '../resources/labels.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

/*
 * Whoever rotates a key revokes the old one when the provider says that the new one was applied: it must not say so
 * while pods stay as they are.
 */

function put(desk: OperatorDesk, name: string, text: string | null): void {
  const metadata = { namespace: 'ns', name }
  const data = text === null ? {} : { key: btoa(text) }
  desk.keeper.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data } as KubeObject)
}

function withKey(name: string): object {
  const header = { name: 'x-key', valueFrom: { secretKeyRef: { name, key: 'key' } } }
  return { nodeUrls: [{ url: `https://${name}.example`, auth: { headers: [header] } }] }
}

const paused = { annotations: { 'rpcrouter.dev/paused': 'true' } }

async function servingDesk(): Promise<OperatorDesk> {
  const desk = new OperatorDesk()
  for (const name of ['a', 'b']) {
    put(desk, name, `${name}-key`)
    desk.provider(name, '', withKey(name))
  }
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

/** What the router says of the provider a: `Programmed`, and the provider itself: `Ready`. */
function told(desk: OperatorDesk): readonly [programmed: string, ready: string] {
  const [router] = desk.status(upstreamProviders, 'a')['routers'] as readonly {
    readonly conditions: readonly Condition[]
  }[]
  const { status, message } = router?.conditions.find(({ type }) => type === 'Programmed') ?? {}
  return [`${status}: ${message}`, desk.conditions(upstreamProviders, 'a')['Ready'] ?? '']
}

const earlier =
  'False: The pods run with an earlier value of a Secret: none has been replaced since.'
const asStarted = expect.stringMatching(
  /^False: The pods that run go on with what they were started with/,
)

const holds: readonly (readonly [string, (desk: OperatorDesk) => void])[] = [
  ['paused', (desk) => desk.router('r', {}, paused)],
  ['refused', (desk) => desk.router('r', { tracing: { endpoint: 'http://otel.example:4317' } })],
]

test.each(holds)(
  'a key that is rotated while the router is %s is not said to be applied',
  async (_, hold) => {
    await using desk = await servingDesk()
    hold(desk)
    await desk.pass()
    expect(told(desk)[0]).toBe('True: It was applied.')
    put(desk, 'a', 'another key')
    await desk.pass()
    expect(told(desk)).toEqual([earlier, expect.stringMatching(/^False\/NotProgrammed/)])
    expect(desk.status(upstreamProviders, 'a')['summary']).toMatchObject({ routers: '0/1' })
    // The other one has its key.
    expect(desk.conditions(upstreamProviders, 'b')['Ready']).toMatch(/^True/)
    put(desk, 'a', 'a-key')
    await desk.pass()
    expect(told(desk)).toEqual(['True: It was applied.', expect.stringMatching(/^True/)])
    put(desk, 'a', 'another key')
    await desk.pass()
    desk.router('r', {}, { annotations: {} })
    await desk.pass()
    expect(told(desk)).toEqual(['True: It was applied.', expect.stringMatching(/^True/)])
  },
)

test.each([
  ['is gone', null],
  ['is bad', 'a\nkey'],
])('so is one that %s while the router is paused', async (_, text) => {
  await using desk = await servingDesk()
  desk.router('r', {}, paused)
  put(desk, 'a', text)
  await desk.pass()
  expect(told(desk)).toEqual([asStarted, expect.stringMatching(/^False/)])
})

/** The hashes of the Secrets with which the pods were started. */
function startedWith(desk: OperatorDesk): string | undefined {
  return desk.get(deployments, 'r-router').metadata.annotations?.[secretHashesAnnotation]
}

test('pods that go on with the last good form of a provider follow its Secret, which nobody refers to any more', async () => {
  await using desk = await servingDesk()
  put(desk, 'next', 'a\nkey')
  desk.provider('a', '', withKey('next'))
  await desk.pass()
  expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^False/)
  const before = startedWith(desk)
  expect(before).toBeDefined()
  put(desk, 'a', 'another key')
  await desk.pass()
  expect(startedWith(desk)).not.toBe(before)
})

test('what came after the Deployment may fail: the key is applied then', async () => {
  await using desk = await servingDesk()
  desk.remove(services, 'r-router')
  const metadata = { namespace: 'ns', name: 'r-router' }
  desk.keeper.put(services, { apiVersion: 'v1', kind: 'Service', metadata })
  put(desk, 'a', 'another key')
  await desk.pass()
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/NameConflict/)
  expect(told(desk)[0]).toBe('True: It was applied.')
})
