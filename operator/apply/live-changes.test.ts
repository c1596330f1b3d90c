// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ReadPodPage } from '../cache/fleet-observer.ts'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { configMaps, deployments, pods, rpcRouters, secrets } from '../resources/kinds.ts'

async function servingHarness(spec: object = {}, readPodPage: ReadPodPage | null = null) {
  const harness = new OperatorHarness(new FakeApiServer(), null, readPodPage)
  put(harness, 'first')
  harness.provider('a', 'https://a.example', withKey)
  harness.router('r', spec)
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
  return harness
}

const header = { name: 'x-key', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }
const withKey = { nodeUrls: [{ url: 'https://a.example', auth: { headers: [header] } }] }

function put(harness: OperatorHarness, value: string): void {
  const data = { key: Buffer.from(value).toString('base64') }
  const metadata = { namespace: 'ns', name: 'keys' }
  harness.api.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data } as never)
}

const generation = (harness: OperatorHarness) =>
  harness.get(deployments, 'r-router').metadata.generation
const texts = (harness: OperatorHarness) =>
  Object.fromEntries(
    harness
      .names(configMaps)
      .map((name) => [name, harness.get(configMaps, name).data?.['router.yml']]),
  )

test.each<[string, (harness: OperatorHarness) => void]>([
  ['a provider that is added', (harness) => harness.provider('b')],
  [
    'another URL',
    (harness) =>
      harness.provider('a', '', {
        nodeUrls: [{ ...withKey.nodeUrls[0], url: 'https://b.example' }],
      }),
  ],
  [
    'another tier',
    (harness) => [harness.provider('b'), harness.provider('a', '', { ...withKey, tier: 'backup' })],
  ],
  ['a budget', (harness) => harness.router('r', { relay: { maxAttempts: 3 } })],
  [
    'a policy',
    (harness) =>
      harness.router('r', {
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
])('%s changes the config in place and replaces no pod', async (_, change) => {
  await using harness = await servingHarness()
  const [before, made] = [texts(harness), generation(harness)]
  change(harness)
  await harness.pass()
  expect(generation(harness)).toBe(made)
  expect(Object.keys(texts(harness))).toEqual(Object.keys(before))
  expect(texts(harness)).not.toEqual(before)
  expect(harness.events.at(-1)).toBe('ConfigRendered')
  const [text = ''] = Object.values(texts(harness))
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  expect(harness.status(rpcRouters, 'r')['configHash']).toBe(hash)
  expect(harness.conditions(rpcRouters, 'r')['Ready']).toMatch(/^True/)
  expect(harness.failures).toEqual([])
})

test('a rotated key replaces no pod and records an Event', async () => {
  await using harness = await servingHarness()
  const [before, made] = [texts(harness), generation(harness)]
  put(harness, 'second')
  await harness.pass()
  expect([texts(harness), generation(harness)]).toEqual([before, made])
  expect(harness.events.at(-1)).toBe('SecretRotated')
})

const another = { name: 'other', port: 3361, chainId: 'ETH1', apiInterface: 'jsonrpc' }

test.each<[string, (harness: OperatorHarness) => void]>([
  ['another port of a node', (harness) => harness.provider('b', 'https://b.example:8443')],
  ['a key of another Secret', (harness) => harness.provider('a')],
  [
    'a setting of the process',
    (harness) => harness.router('r', { upstreams: { epochDuration: '10m' } }),
  ],
  ['another image', (harness) => harness.router('r', { pod: { image: 'router:other' } })],
  ['a listener', (harness) => harness.router('r', { endpoints: [another] })],
])('%s replaces pods, and the old pods keep their config', async (_, change) => {
  await using harness = await servingHarness()
  const [before, made] = [texts(harness), generation(harness)]
  change(harness)
  await harness.pass()
  expect(generation(harness)).toBe((made ?? 0) + 1)
  expect(texts(harness)).toMatchObject(before)
  expect(Object.keys(texts(harness))).toHaveLength(2)
  expect(harness.failures).toEqual([])
})

/** Status pages of pods, by IP address. */
class Pages {
  readonly sha256 = new Map<string, string>()
  /** Extra fields of the refusal on the pages. */
  refusal: () => object = () => ({})
  readonly refusing = new Set<string>()
  /** Delay of a page. */
  delayMs = 0
  harness: OperatorHarness | null = null

  readonly read: ReadPodPage = async (ip, signal) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      if (this.harness === null) resolve()
      else this.harness.clock.after(this.delayMs, resolve)
    })
    const refused = this.refusing.has(ip)
      ? { why: '2 errors, see the log', ...this.refusal() }
      : null
    const config = { sha256: this.sha256.get(ip), refused }
    return { text: JSON.stringify({ config, upstreams: [] }) }
  }
}

/** Starts two pods that serve the applied config. */
async function observedHarness() {
  const pages = new Pages()
  const harness = await servingHarness({}, pages.read)
  const hash = () =>
    createHash('sha256')
      .update(Object.values(texts(harness))[0] ?? '')
      .digest('hex')
  for (const ip of ['10.0.0.1', '10.0.0.2']) {
    const labels = harness.get(deployments, 'r-router').spec.template.metadata?.labels ?? {}
    const metadata = { namespace: 'ns', name: `pod-${ip}`, labels }
    harness.api.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
    harness.api.putStatus(pods, metadata, { phase: 'Running', podIP: ip })
    pages.sha256.set(ip, hash())
  }
  await harness.pass(31_000)
  return {
    harness,
    pages,
    hash,
    programmed: () => harness.conditions(rpcRouters, 'r')['Programmed'],
  }
}

test('Programmed waits for every observed pod', async () => {
  const { harness, pages, hash, programmed } = await observedHarness()
  await using _ = harness
  expect(programmed()).toMatch(/^True\/Programmed/)
  harness.provider('b')
  await harness.pass(3_000)
  expect(programmed()).toMatch(
    /^False\/ConfigPending@\d: .* 2 pods still serve another config: pod-10\.0\.0\.1, pod-10\.0\.0\.2\.$/,
  )
  expect(harness.conditions(rpcRouters, 'r')['Ready']).toMatch(/^False\/NotProgrammed/)
  pages.sha256.set('10.0.0.1', hash())
  await harness.pass(11_000)
  expect(programmed()).toMatch(/: .* 1 pod still serves another config: pod-10\.0\.0\.2\.$/)
  pages.sha256.set('10.0.0.2', hash())
  await harness.pass(11_000)
  expect(programmed()).toMatch(/^True\/Programmed/)
  expect(harness.conditions(rpcRouters, 'r')['Ready']).toMatch(/^True/)
})

test('Programmed names the pod that refuses a config', async () => {
  const { harness, pages, programmed } = await observedHarness()
  await using _ = harness
  pages.refusing.add('10.0.0.2')
  harness.provider('b')
  await harness.pass(8_000)
  expect(programmed()).toMatch(
    /^False\/ConfigPending@\d: .*10\.0\.0\.2\. Refused by pod-10\.0\.0\.2: see the log\.$/,
  )
})

const lastGood = 'r-router-last-good'
const textOf = (harness: OperatorHarness) => configOf(harness).data?.['router.yml'] ?? ''
const configOf = (harness: OperatorHarness) =>
  harness.get(configMaps, harness.names(configMaps).find((name) => name !== lastGood) ?? '')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Lets two pods serve a config, which becomes the last good one. Then one refuses a new budget. */
async function refusingHarness(refusal?: (text: string) => object) {
  const { harness, pages, programmed } = await observedHarness()
  const served = textOf(harness)
  harness.router('r', { relay: { maxAttempts: 3 } })
  await harness.pass(8_000)
  const refused = textOf(harness)
  expect(refused).toContain('max-relay-attempts: 3')
  pages.refusal = () => refusal?.(refused) ?? { sha256: sha256(refused), retries: false }
  pages.refusing.add('10.0.0.1')
  await harness.pass(11_000)
  return { harness, pages, programmed, served, refused }
}

test('a config that every pod with it refuses is rolled back for new pods', async () => {
  const { harness, pages, programmed, served } = await refusingHarness()
  await using _ = harness
  expect(textOf(harness)).toBe(served)
  expect(harness.get(configMaps, lastGood).data?.['router.yml']).toBe(served)
  expect(programmed()).toMatch(
    /^False\/LastGoodRestored@2: Pod pod-10\.0\.0\.1 refuses .* The last good config is restored, /,
  )
  expect(harness.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^True/)
  expect(harness.conditions(rpcRouters, 'r')['Ready']).toMatch(/^False\/NotProgrammed/)
  expect(harness.events).toContain('LastGoodRestored')
  // The files of the pods again match the config that they serve.
  pages.refusing.clear()
  await harness.pass(200_000)
  expect([textOf(harness), programmed()]).toEqual([
    served,
    expect.stringContaining('LastGoodRestored'),
  ])
})

test('a new leader keeps the last good config in place', async () => {
  const { harness, pages, programmed, served } = await refusingHarness()
  pages.refusing.clear()
  await harness[Symbol.asyncDispose]()
  await using second = new OperatorHarness(harness.api, null, pages.read)
  await second.pass(100_000)
  expect([textOf(second), programmed()]).toEqual([
    served,
    expect.stringContaining('LastGoodRestored'),
  ])
})

test('the next config is tried, and becomes the last good one once pods serve it', async () => {
  const { harness, pages, programmed } = await refusingHarness()
  await using _ = harness
  pages.refusing.clear()
  harness.router('r', { relay: { maxAttempts: 4 } })
  await harness.pass(8_000)
  expect(textOf(harness)).toContain('max-relay-attempts: 4')
  for (const ip of pages.sha256.keys()) pages.sha256.set(ip, sha256(textOf(harness)))
  await harness.pass(60_000)
  expect(programmed()).toMatch(/^True\/Programmed/)
  expect(harness.get(configMaps, lastGood).data).toEqual(configOf(harness).data)
  expect(harness.failures).toEqual([])
})

test.each<[string, boolean, (text: string) => object]>([
  ['of an earlier config', false, () => ({ sha256: 'f'.repeat(64), retries: false })],
  ['that the router retries by itself', false, (text) => ({ sha256: sha256(text), retries: true })],
  ['of an older router, which does not name the config', false, () => ({})],
  ['of this config', true, (text) => ({ sha256: sha256(text) })],
])('after a refusal %s, rolled back: %s', async (_, isRolledBack, refusal) => {
  const { harness: own, served, refused } = await refusingHarness(refusal)
  await using harness = own
  expect(textOf(harness)).toBe(isRolledBack ? served : refused)
})

test('a config that one pod serves stays, even if other pods refuse it', async () => {
  const { harness, pages } = await observedHarness()
  await using _ = harness
  harness.router('r', { relay: { maxAttempts: 3 } })
  await harness.pass(8_000)
  const text = textOf(harness)
  pages.sha256.set('10.0.0.2', sha256(text))
  pages.refusal = () => ({ sha256: sha256(text), retries: false })
  pages.refusing.add('10.0.0.1')
  await harness.pass(100_000)
  expect(textOf(harness)).toBe(text)
})

test.each<[string, number, (text: string) => string, boolean]>([
  ['of this config', 2, (text) => sha256(text), true],
  ['of an earlier config', 2, () => 'f'.repeat(64), false],
  ['of this config, with another exit code', 1, (text) => sha256(text), false],
])('after a pod died %s, code %i, rolled back', async (_, exitCode, hashOf, isRolledBack) => {
  const { harness: own, pages } = await observedHarness()
  await using harness = own
  const served = textOf(harness)
  harness.router('r', { relay: { maxAttempts: 3 } })
  await harness.pass(8_000)
  const refused = textOf(harness)
  pages.sha256.clear()
  const { labels } = harness.get(deployments, 'r-router').spec.template.metadata ?? {}
  const metadata = { namespace: 'ns', name: 'new', labels }
  harness.api.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
  const message = `config.yml:3: unknown key "x"\nconfig.yml: error: this config is refused; its sha256: ${hashOf(refused)}.\n`
  const lastState = { terminated: { exitCode, message } }
  harness.api.putStatus(pods, metadata, {
    phase: 'Running',
    containerStatuses: [{ name: 'router', lastState }],
  })
  await harness.pass(60_000)
  expect(textOf(harness)).toBe(isRolledBack ? served : refused)
})

test('write access to ConfigMaps alone does not decide the last good config', async () => {
  const { harness, pages, programmed } = await observedHarness()
  await using _ = harness
  const forged = harness.get(configMaps, lastGood)
  harness.router('r', { relay: { maxAttempts: 3 } })
  await harness.pass(3_000)
  const refused = textOf(harness)
  harness.api.put(configMaps, { ...forged, data: { 'router.yml': 'evil' } } as never)
  pages.refusal = () => ({ sha256: sha256(refused), retries: false })
  pages.refusing.add('10.0.0.1')
  await harness.pass(30_000)
  expect(textOf(harness)).not.toContain('evil')
  expect(programmed()).toMatch(/^False/)
})

test('a new leader reports the same before and after its first observation', async () => {
  const { harness, pages, programmed, hash } = await observedHarness()
  harness.provider('b')
  await harness.pass(8_000)
  const before = programmed()
  expect(before).toMatch(/^False\/ConfigPending/)
  await harness[Symbol.asyncDispose]()
  await using second = new OperatorHarness(harness.api, null, pages.read)
  pages.harness = second
  pages.delayMs = 1_500
  for (let second10th = 0; second10th < 50; second10th++) {
    await second.pass(100)
    expect(programmed()).toBe(before)
  }
  for (const ip of pages.sha256.keys()) pages.sha256.set(ip, hash())
  await second.pass(11_000)
  expect(programmed()).toMatch(/^True\/Programmed/)
  // The next observation finds a pod that returned to an older config, for example by restarting.
  pages.sha256.set('10.0.0.1', 'a'.repeat(64))
  await second.pass(35_000)
  expect(programmed()).toMatch(/^False\/ConfigPending.* 1 pod .*pod-10\.0\.0\.1\.$/)
})
