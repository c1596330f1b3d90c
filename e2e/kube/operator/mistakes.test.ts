// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../../operator/kube/clock.ts'
import { withoutManagedFields } from '../../../operator/kube/object.ts'
import { Reflector, synced } from '../../../operator/kube/reflector.ts'
import { Store } from '../../../operator/kube/store.ts'
import { type ConfigMap, configMaps, rpcRouters } from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { hastyClock } from '../in-process-operator.ts'
import { type Pod, pods } from '../resources.ts'
import { useOperatedFleet } from './operated-fleet.ts'

/*
 * A mistake never takes a running fleet down. After a bad change each test deletes all pods one by
 * one, and the service answers throughout. The simulated pods have an older image that refuses some
 * settings.
 */

const unknownToTheImage = /max-relay-attempts: 3|epoch-duration: 10m/

const texts = new Store<ConfigMap>()
/** The config that each pod serves, by pod uid. */
const served = new Map<string, string>()
const byAddress = new Map<string, Pod>()

/** The config in the pod's volume. */
function textOf(pod: Pod): string {
  const name = pod.spec?.volumes?.find((volume) => volume.name === 'config')?.configMap?.name
  const found = texts.get(`${pod.metadata.namespace}/${name}`)
  return found?.data?.['router.yml'] ?? ''
}

const { fleet, place, kubelet } = useOperatedFleet(
  {},
  (pod) => {
    const uid = pod.metadata.uid ?? ''
    if (pod.status?.podIP) byAddress.set(pod.status.podIP, pod)
    const text = textOf(pod)
    if (text === '') return 'waiting'
    if (!served.has(uid) && unknownToTheImage.test(text)) return 'refusing'
    served.set(uid, served.get(uid) ?? text)
    return 'ready'
  },
  {
    clock: hastyClock(10),
    readPodPage: (ip) => {
      const pod = byAddress.get(ip)
      const uid = pod?.metadata.uid ?? ''
      if (pod === undefined || !served.has(uid))
        return Promise.resolve({ problem: 'it does not answer' })
      const text = textOf(pod)
      const isRefused = unknownToTheImage.test(text)
      if (!isRefused) served.set(uid, text)
      const sha256 = (of: string) => createHash('sha256').update(of).digest('hex')
      const refusal = { why: '1 error, see the log', sha256: sha256(text), retries: false }
      const config = {
        sha256: sha256(served.get(uid) ?? ''),
        refused: isRefused ? { ...refusal, at: new Date().toISOString() } : null,
      }
      return Promise.resolve({ text: JSON.stringify({ config, upstreams: [] }) })
    },
  },
)

beforeAll(async () => {
  const { client, namespace, signal } = place
  const reflector = new Reflector({
    ...{ client, resource: configMaps, store: texts, keep: withoutManagedFields },
    ...{ clock: systemClock, random: systemRandom, selection: { namespace } },
  })
  void reflector.run(signal)
  await synced([reflector], signal)
})

const isReady = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true

async function podsOf(router: string): Promise<readonly Pod[]> {
  const all = await fleet.list(pods)
  return all.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'] === router)
}

async function readyOf(router: string): Promise<readonly Pod[]> {
  return (await podsOf(router)).filter(isReady)
}

/** Deletes every pod, each after the replacement of the previous one. The service must answer. */
async function replaceAll(router: string): Promise<void> {
  const before = await podsOf(router)
  for (const { metadata } of before) {
    await fleet.delete(pods, metadata.name)
    await eventually(async () => {
      // Restarts ended containers.
      kubelet.decide(kubelet.fateOf)
      const ready = await readyOf(router)
      expect(ready.length).toBeGreaterThan(0)
      expect(ready.filter(({ metadata: each }) => each.uid !== metadata.uid)).toHaveLength(2)
    }, 30_000)
  }
}

test.each([
  {
    router: 'live',
    mistake: 'what running pods refuse',
    bad: { relay: { maxAttempts: 3 } },
    right: { relay: { maxAttempts: 4 } },
    says: ['Programmed', 'LastGoodRestored'],
  },
  {
    router: 'fixed',
    mistake: 'what new pods refuse',
    bad: { upstreams: { epochDuration: '10m' } },
    right: { upstreams: { epochDuration: '20m' } },
    says: ['Progressing', 'RolloutInProgress'],
  },
  {
    router: 'typo',
    mistake: 'a method that no spec names',
    bad: {
      crossValidation: {
        policies: [
          {
            ...{ chainId: 'ETH1', apiInterface: 'jsonrpc', method: 'eth_getBalanec' },
            agreementThreshold: { floor: 1 },
          },
        ],
      },
    },
    right: { crossValidation: null },
    says: ['Accepted', 'InvalidConfig'],
  },
])(
  '$mistake takes no pod down, and new pods serve',
  async (each) => {
    const { router, bad, right, says } = each
    await fleet.provider(router, `${router}-a`)
    await fleet.router(router)
    await fleet.routerIs(router, 'Progressing', 'RolloutComplete', 30_000)
    await eventually(async () => {
      expect(await readyOf(router)).toHaveLength(2)
      await fleet.get(configMaps, `${router}-router-last-good`)
    }, 30_000)

    await fleet.patch(rpcRouters, router, { spec: bad })
    const [type = '', reason = ''] = says
    await fleet.routerIs(router, type, reason, 30_000)
    await replaceAll(router)
    await fleet.routerIs(router, type, reason)

    await fleet.patch(rpcRouters, router, { spec: right })
    await fleet.routerIs(router, 'Ready', 'Ready', 30_000)
  },
  180_000,
)
