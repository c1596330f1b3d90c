// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { parseConfig } from '../../proxy/config/parse.ts'
import { ApiError } from '../kube/errors.ts'
import { configMaps, deployments, rpcRouters, secrets, statefulSets } from '../resources/kinds.ts'
import { secretData } from '../translate/reference-data.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

const sharedState = { mode: 'Managed' }
const cache = { type: 'Managed' }

/** Parses the config of the pods with their variables. */
function configOf(harness: OperatorHarness) {
  const [name = ''] = harness.names(configMaps)
  const text = harness.get(configMaps, name).data?.['router.yml'] ?? ''
  const [container] = harness.get(deployments, 'r-router').spec?.template.spec?.containers ?? []
  const environment = (container?.env ?? []).map(({ name: variable, valueFrom }) => {
    const { name: secret = '', key = '' } = valueFrom?.secretKeyRef ?? {}
    return [variable, secretData(harness.get(secrets, secret)).get(key) ?? '']
  })
  const { config, problems } = parseConfig(text, {
    environment: Object.fromEntries(environment),
    flags: {},
  })
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  const storeOf = (store: NonNullable<typeof config>['store'] = null) =>
    store && `${store.password?.reveal()}@${store.addresses[0]?.host}`
  return [config?.sharedState, storeOf(config?.store), storeOf(config?.cache.store)]
}

test.each([
  [{ sharedState }, ['r-redis'], [true, 'password-of-r-redis@r-redis.ns.svc', null]],
  [{ cache }, ['r-redis-cache'], [false, 'password-of-r-redis-cache@r-redis-cache.ns.svc', null]],
  [
    { sharedState, cache },
    ['r-redis', 'r-redis-cache'],
    [true, 'password-of-r-redis@r-redis.ns.svc', 'password-of-r-redis-cache@r-redis-cache.ns.svc'],
  ],
])(
  'a router with %j is accepted, and its pods can read their config',
  async (spec, all, config) => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r', { replicas: 3, ...spec })
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Accepted: expect.stringMatching(/^True/),
      Programmed: expect.stringMatching(/^True/),
    })
    const made = () => [harness.names(statefulSets), harness.names(secrets)]
    expect(made()).toEqual([all, all])
    expect(configOf(harness)).toEqual(config)
    // The next reconcile uses the same passwords and writes nothing.
    harness.api.requests.length = 0
    await harness.pass(600_000)
    expect(configOf(harness)).toEqual(config)
    const writes = harness.api.requests.filter(({ verb }) => verb === 'patch' || verb === 'delete')
    expect(writes).toEqual([])
    harness.router('r', { replicas: 3 })
    await harness.pass()
    expect(made()).toEqual([[], []])
  },
)

test('a second Redis leaves the first one and its sessions unchanged', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r', { sharedState })
  await harness.pass()
  const first = () => [harness.get(statefulSets, 'r-redis'), harness.get(secrets, 'r-redis')]
  const before = structuredClone(first())
  harness.router('r', { sharedState, cache })
  await harness.pass()
  expect(configOf(harness)).toEqual([
    true,
    'password-of-r-redis@r-redis.ns.svc',
    'password-of-r-redis-cache@r-redis-cache.ns.svc',
  ])
  expect(first()).toEqual(before)
  harness.router('r', { sharedState })
  await harness.pass()
  expect([harness.names(statefulSets), first()]).toEqual([['r-redis'], before])
})

test('a changed password restarts Redis, which reads its users only at startup', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r', { sharedState, cache })
  await harness.pass()
  const templates = () =>
    ['r-redis', 'r-redis-cache'].map((name) => harness.get(statefulSets, name).spec.template)
  const before = structuredClone(templates())
  const secret = harness.get(secrets, 'r-redis')
  const data = { ...secret.data, password: Buffer.from('other').toString('base64') }
  harness.api.put(secrets, { ...secret, data } as never)
  await harness.pass()
  expect(configOf(harness)[1]).toBe('other@r-redis.ns.svc')
  expect(templates()[0]).not.toEqual(before[0])
  expect(templates()[1]).toEqual(before[1])
})

test('a corrected spec replaces a Redis pod that does not start', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r', { sharedState })
  await harness.pass()
  expect(harness.get(statefulSets, 'r-redis').spec.podManagementPolicy).toBe('Parallel')
  harness.router('r', { sharedState: { ...sharedState, managed: { image: 'redis:other' } } })
  await harness.pass()
  expect(harness.get(statefulSets, 'r-redis').spec.template.spec?.containers[0]?.image).toBe(
    'redis:other',
  )
  expect(harness.failures).toEqual([])
})

test('an operator that may not write Secrets reports it and starts no pods', async () => {
  await using harness = new OperatorHarness()
  harness.api.refuse = ({ verb, plural }) =>
    plural === 'secrets' && verb === 'patch'
      ? new ApiError(`PATCH ${plural}`, 403, { reason: 'Forbidden', message: 'cannot patch it' })
      : null
  harness.provider('a')
  harness.router('r', { sharedState })
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toContain(
    'ApplyFailed@1: PATCH secrets: Forbidden: cannot patch it',
  )
  expect(harness.names(deployments)).toEqual([])
})
