// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { configMaps, deployments, pods, rpcRouters, secrets } from '../resources/kinds.ts'
import type { ReadPodPage } from './fleet-observer.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

async function servingDesk(spec: object = {}, readPodPage: ReadPodPage | null = null) {
  const desk = new OperatorHarness(new FakeApiServer(), null, readPodPage)
  put(desk, 'first')
  desk.provider('a', 'https://a.example', withKey)
  desk.router('r', spec)
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

const header = { name: 'x-key', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }
const withKey = { nodeUrls: [{ url: 'https://a.example', auth: { headers: [header] } }] }

function put(desk: OperatorHarness, value: string): void {
  const data = { key: Buffer.from(value).toString('base64') }
  const metadata = { namespace: 'ns', name: 'keys' }
  desk.keeper.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data } as never)
}

const generation = (desk: OperatorHarness) => desk.get(deployments, 'r-router').metadata.generation
const texts = (desk: OperatorHarness) =>
  Object.fromEntries(
    desk.names(configMaps).map((name) => [name, desk.get(configMaps, name).data?.['router.yml']]),
  )

test.each<[string, (desk: OperatorHarness) => void]>([
  ['a provider that is added', (desk) => desk.provider('b')],
  [
    'another URL',
    (desk) =>
      desk.provider('a', '', { nodeUrls: [{ ...withKey.nodeUrls[0], url: 'https://b.example' }] }),
  ],
  [
    'another tier',
    (desk) => [desk.provider('b'), desk.provider('a', '', { ...withKey, tier: 'backup' })],
  ],
  ['a budget', (desk) => desk.router('r', { relay: { maxAttempts: 3 } })],
  [
    'a policy',
    (desk) =>
      desk.router('r', {
        endpoints: [
          {
            name: 'eth1',
            port: 3360,
            chainId: 'ETH1',
            apiInterface: 'jsonrpc',
            relay: { strategy: 'latency' },
          },
        ],
      }),
  ],
])('%s replaces no pod: the config changes in place', async (_, change) => {
  await using desk = await servingDesk()
  const [before, made] = [texts(desk), generation(desk)]
  change(desk)
  await desk.pass()
  expect(generation(desk)).toBe(made)
  expect(Object.keys(texts(desk))).toEqual(Object.keys(before))
  expect(texts(desk)).not.toEqual(before)
  expect(desk.events.at(-1)).toBe('ConfigRendered')
  const [text = ''] = Object.values(texts(desk))
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  expect(desk.status(rpcRouters, 'r')['configHash']).toBe(hash)
  expect(desk.conditions(rpcRouters, 'r')['Ready']).toMatch(/^True/)
  expect(desk.failures).toEqual([])
})

test('a rotated key replaces no pod, and has its event', async () => {
  await using desk = await servingDesk()
  const [before, made] = [texts(desk), generation(desk)]
  put(desk, 'second')
  await desk.pass()
  expect([texts(desk), generation(desk)]).toEqual([before, made])
  expect(desk.events.at(-1)).toBe('SecretRotated')
})

const another = { name: 'other', port: 3361, chainId: 'ETH1', apiInterface: 'jsonrpc' }

test.each<[string, (desk: OperatorHarness) => void]>([
  ['another port of a node', (desk) => desk.provider('b', 'https://b.example:8443')],
  ['a key of another Secret', (desk) => desk.provider('a')],
  ['a setting of the process', (desk) => desk.router('r', { logging: { level: 'debug' } })],
  ['another image', (desk) => desk.router('r', { pod: { image: 'router:other' } })],
  ['a listener', (desk) => desk.router('r', { endpoints: [another] })],
])('%s replaces pods, and those that are there keep their config', async (_, change) => {
  await using desk = await servingDesk()
  const [before, made] = [texts(desk), generation(desk)]
  change(desk)
  await desk.pass()
  expect(generation(desk)).toBe((made ?? 0) + 1)
  expect(texts(desk)).toMatchObject(before)
  expect(Object.keys(texts(desk))).toHaveLength(2)
  expect(desk.failures).toEqual([])
})

/** The pages of pods, by IP address. */
class Pages {
  readonly sha256 = new Map<string, string>()
  /** Further members of the routers' refusal. */
  refusal: () => object = () => ({ at: '' })
  readonly refusing = new Set<string>()
  /** How long a page takes. */
  delayMs = 0
  desk: OperatorHarness | null = null

  readonly read: ReadPodPage = async (ip, signal) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      if (this.desk === null) resolve()
      else this.desk.clock.after(this.delayMs, resolve)
    })
    const refused = this.refusing.has(ip)
      ? { why: '2 errors, see the log', ...this.refusal() }
      : null
    const config = { sha256: this.sha256.get(ip), refused }
    return { text: JSON.stringify({ config, upstreams: [] }) }
  }
}

/** Two pods that serve what is applied. */
async function observedDesk() {
  const pages = new Pages()
  const desk = await servingDesk({}, pages.read)
  const hash = () =>
    createHash('sha256')
      .update(Object.values(texts(desk))[0] ?? '')
      .digest('hex')
  for (const ip of ['10.0.0.1', '10.0.0.2']) {
    const labels = desk.get(deployments, 'r-router').spec.template.metadata?.labels ?? {}
    const metadata = { namespace: 'ns', name: `pod-${ip}`, labels }
    desk.keeper.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
    desk.keeper.putStatus(pods, metadata, { phase: 'Running', podIP: ip })
    pages.sha256.set(ip, hash())
  }
  await desk.pass(31_000)
  return { desk, pages, hash, programmed: () => desk.conditions(rpcRouters, 'r')['Programmed'] }
}

test('Programmed waits for every pod that was seen', async () => {
  const { desk, pages, hash, programmed } = await observedDesk()
  await using _ = desk
  expect(programmed()).toMatch(/^True\/Programmed/)
  desk.provider('b')
  await desk.pass(3_000)
  expect(programmed()).toMatch(
    /^False\/ConfigPending@\d: .* 2 pods serve another config yet: pod-10\.0\.0\.1, pod-10\.0\.0\.2\.$/,
  )
  expect(desk.conditions(rpcRouters, 'r')['Ready']).toMatch(/^False\/NotProgrammed/)
  pages.sha256.set('10.0.0.1', hash())
  await desk.pass(11_000)
  expect(programmed()).toMatch(/: .* 1 pods serve another config yet: pod-10\.0\.0\.2\.$/)
  pages.sha256.set('10.0.0.2', hash())
  await desk.pass(11_000)
  expect(programmed()).toMatch(/^True\/Programmed/)
  expect(desk.conditions(rpcRouters, 'r')['Ready']).toMatch(/^True/)
})

test('a config that a pod refuses is named, with the pod', async () => {
  const { desk, pages, programmed } = await observedDesk()
  await using _ = desk
  pages.refusing.add('10.0.0.2')
  desk.provider('b')
  await desk.pass(8_000)
  expect(programmed()).toMatch(
    /^False\/ConfigPending@\d: .*10\.0\.0\.2\. It is refused by pod-10\.0\.0\.2: the log says why\.$/,
  )
})

const lastGood = 'r-router-last-good'
const textOf = (desk: OperatorHarness) => configOf(desk).data?.['router.yml'] ?? ''
const configOf = (desk: OperatorHarness) =>
  desk.get(configMaps, desk.names(configMaps).find((name) => name !== lastGood) ?? '')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Two pods serve a config, which becomes the last good one. Then the first pod refuses a new budget. */
async function refusingDesk(refusal?: (desk: OperatorHarness, text: string) => object) {
  const { desk, pages, programmed } = await observedDesk()
  const served = textOf(desk)
  desk.router('r', { relay: { maxAttempts: 3 } })
  await desk.pass(8_000)
  const refused = textOf(desk)
  expect(refused).toContain('max-relay-attempts: 3')
  pages.refusal = () => refusal?.(desk, refused) ?? { sha256: sha256(refused), retries: false }
  pages.refusing.add('10.0.0.1')
  await desk.pass(11_000)
  return { desk, pages, programmed, served, refused }
}

test('a config that every pod with it refuses is rolled back for new pods', async () => {
  const { desk, pages, programmed, served } = await refusingDesk()
  await using _ = desk
  expect(textOf(desk)).toBe(served)
  expect(desk.get(configMaps, lastGood).data?.['router.yml']).toBe(served)
  expect(programmed()).toMatch(
    /^False\/LastGoodRestored@2: Pod pod-10\.0\.0\.1 refuses .* The last good config is restored, /,
  )
  expect(desk.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^True/)
  expect(desk.conditions(rpcRouters, 'r')['Ready']).toMatch(/^False\/NotProgrammed/)
  expect(desk.events).toContain('LastGoodRestored')
  // The files of the pods match what they serve again.
  pages.refusing.clear()
  await desk.pass(200_000)
  expect([textOf(desk), programmed()]).toEqual([
    served,
    expect.stringContaining('LastGoodRestored'),
  ])
})

test('an operator that takes over keeps the last good config in place', async () => {
  const { desk, pages, programmed, served } = await refusingDesk()
  pages.refusing.clear()
  await desk[Symbol.asyncDispose]()
  await using second = new OperatorHarness(desk.keeper, null, pages.read)
  await second.pass(100_000)
  expect([textOf(second), programmed()]).toEqual([
    served,
    expect.stringContaining('LastGoodRestored'),
  ])
})

test('another config is tried, and becomes the last good one once pods serve it', async () => {
  const { desk, pages, programmed } = await refusingDesk()
  await using _ = desk
  pages.refusing.clear()
  desk.router('r', { relay: { maxAttempts: 4 } })
  await desk.pass(8_000)
  expect(textOf(desk)).toContain('max-relay-attempts: 4')
  for (const ip of pages.sha256.keys()) pages.sha256.set(ip, sha256(textOf(desk)))
  await desk.pass(60_000)
  expect(programmed()).toMatch(/^True\/Programmed/)
  expect(desk.get(configMaps, lastGood).data).toEqual(configOf(desk).data)
  expect(desk.failures).toEqual([])
})

test.each<[string, boolean, (desk: OperatorHarness, text: string) => object]>([
  ['of an earlier config', false, () => ({ sha256: 'f'.repeat(64), retries: false })],
  [
    'that the router takes back by itself',
    false,
    (_, text) => ({ sha256: sha256(text), retries: true }),
  ],
  ['of an older router, before the change', false, () => ({ at: '2000-01-01T00:00:00.000Z' })],
  [
    'of an older router, after the change',
    true,
    (desk) => ({ at: new Date(desk.clock.wallMs() + 1_000).toISOString() }),
  ],
])('a refusal %s: taken back is %s', async (_, isTakenBack, refusal) => {
  const { desk: own, served, refused } = await refusingDesk(refusal)
  await using desk = own
  expect(textOf(desk)).toBe(isTakenBack ? served : refused)
})

test('a config that one pod serves stays, whichever pods refuse it', async () => {
  const { desk, pages } = await observedDesk()
  await using _ = desk
  desk.router('r', { relay: { maxAttempts: 3 } })
  await desk.pass(8_000)
  const text = textOf(desk)
  pages.sha256.set('10.0.0.2', sha256(text))
  pages.refusal = () => ({ sha256: sha256(text), retries: false })
  pages.refusing.add('10.0.0.1')
  await desk.pass(100_000)
  expect(textOf(desk)).toBe(text)
})

test.each([
  ['was made since', 0, true],
  ['ended before the kubelet updated its files', -3_600_000, false],
])(
  'a pod that does not start and %s: the config is rolled back: %s',
  async (_, age, isTakenBack) => {
    const { desk: own, pages } = await observedDesk()
    await using desk = own
    const served = textOf(desk)
    desk.router('r', { relay: { maxAttempts: 3 } })
    await desk.pass(8_000)
    const refused = textOf(desk)
    pages.sha256.clear()
    const at = new Date(desk.clock.wallMs() + 1_000 + age).toISOString()
    const finishedAt = new Date(desk.clock.wallMs() + 1_000).toISOString()
    const { labels } = desk.get(deployments, 'r-router').spec.template.metadata ?? {}
    const metadata = { namespace: 'ns', name: 'new', labels, creationTimestamp: at }
    desk.keeper.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
    const lastState = { terminated: { exitCode: 2, finishedAt } }
    desk.keeper.putStatus(pods, metadata, {
      phase: 'Running',
      containerStatuses: [{ name: 'router', lastState }],
    })
    await desk.pass(60_000)
    expect(textOf(desk)).toBe(isTakenBack ? served : refused)
  },
)

test('write access to ConfigMaps alone does not decide the last good config', async () => {
  const { desk, pages, programmed } = await observedDesk()
  await using _ = desk
  const forged = desk.get(configMaps, lastGood)
  desk.router('r', { relay: { maxAttempts: 3 } })
  await desk.pass(3_000)
  const refused = textOf(desk)
  desk.keeper.put(configMaps, { ...forged, data: { 'router.yml': 'evil' } } as never)
  pages.refusal = () => ({ sha256: sha256(refused), retries: false })
  pages.refusing.add('10.0.0.1')
  await desk.pass(30_000)
  expect(textOf(desk)).not.toContain('evil')
  expect(programmed()).toMatch(/^False/)
})

test('the operator that takes over says the same, before its first look and after it', async () => {
  const { desk, pages, programmed, hash } = await observedDesk()
  desk.provider('b')
  await desk.pass(8_000)
  const before = programmed()
  expect(before).toMatch(/^False\/ConfigPending/)
  await desk[Symbol.asyncDispose]()
  await using second = new OperatorHarness(desk.keeper, null, pages.read)
  pages.desk = second
  pages.delayMs = 1_500
  for (let second10th = 0; second10th < 50; second10th++) {
    await second.pass(100)
    expect(programmed()).toBe(before)
  }
  for (const ip of pages.sha256.keys()) pages.sha256.set(ip, hash())
  await second.pass(11_000)
  expect(programmed()).toMatch(/^True\/Programmed/)
  // A pod that went back to an older config, say by a restart, is seen at the next look.
  pages.sha256.set('10.0.0.1', 'a'.repeat(64))
  await second.pass(35_000)
  expect(programmed()).toMatch(/^False\/ConfigPending.* 1 pods .*pod-10\.0\.0\.1\.$/)
})
