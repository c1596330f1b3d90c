// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../../proxy/clock/testing/seeded-random.ts'
import type { RpcRouter } from '../../../operator/api/rpc-router.ts'
import type { UpstreamProvider } from '../../../operator/api/upstream-provider.ts'
import type { KubeClient } from '../../../operator/kube/client.ts'
import { systemClock } from '../../../operator/kube/clock.ts'
import { listAll, Reflector } from '../../../operator/kube/reflector.ts'
import {
  type KubeObject,
  withoutManagedFields,
  type Resource,
} from '../../../operator/kube/object.ts'
import { Store } from '../../../operator/kube/store.ts'
import {
  childKinds,
  monitorKinds,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { keyHeader, providerObject, routerObject, secretObject } from './fleet.ts'

/** Routers with an equal number of providers each, and a key per pool of providers. */
export interface Population {
  readonly namespace: string
  readonly routers: number
  readonly providersEach: number
  /** Whether all routers share their providers. Default: false. */
  readonly isShared?: boolean
}

export function providersOf({ routers, providersEach, isShared }: Population): number {
  return isShared ? providersEach : routers * providersEach
}

const atOnce = 32
/** Pods never run here, which must not count as a stalled rollout. */
const rollout = { minReadySeconds: 0, progressDeadlineSeconds: 3_600 }

/** Creates the population as fast as the server allows. */
export async function populate(
  client: KubeClient,
  { namespace, routers, providersEach, isShared }: Population,
  signal: AbortSignal,
): Promise<void> {
  const objects: (readonly [Resource, KubeObject])[] = []
  for (let router = 0; router < routers; router++) {
    const name = `fleet-${router}`
    const pool = isShared ? 'fleet-pool' : name
    const providerSelector = { matchLabels: { pool } }
    objects.push([
      rpcRouters,
      routerObject(namespace, name, { providerSelector, pod: { rollout } }),
    ])
    if (isShared && router > 0) continue
    objects.push([secrets, secretObject(namespace, pool, { key: `key-of-${pool}` })])
    for (let provider = 0; provider < providersEach; provider++)
      objects.push([
        upstreamProviders,
        providerObject(namespace, pool, `${pool}-${provider}`, keyHeader(pool)),
      ])
  }
  const creators = Array.from({ length: atOnce }, async () => {
    for (let next = objects.pop(); next !== undefined; next = objects.pop())
      await client.create(next[0], next[1], signal)
  })
  await Promise.all(creators)
}

/** The operator's progress from a watch, since repeated lists would cost the server too much. */
export class Progress {
  readonly #routers = new Store<KubeObject>()
  readonly #providers = new Store<KubeObject>()
  readonly #reflectors: readonly Reflector<KubeObject>[]

  constructor(client: KubeClient, namespace: string) {
    const parts = { client, clock: systemClock, random: seededRandom(1), selection: { namespace } }
    const watch = (resource: Resource, store: Store<KubeObject>) =>
      new Reflector({ ...parts, resource, store, keep: withoutManagedFields })
    this.#reflectors = [watch(rpcRouters, this.#routers), watch(upstreamProviders, this.#providers)]
  }

  /** Watches until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)))
  }

  get programmed(): number {
    return this.#routers.list().filter((router) => isTrue(router, 'Programmed')).length
  }

  get readyProviders(): number {
    return this.#providers.list().filter((provider) => isTrue(provider, 'Ready')).length
  }
}

/** Counts the objects that the operator reads and creates. */
export async function countObjects(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<number> {
  const kinds: readonly Resource[] = [...childKinds, rpcRouters, upstreamProviders]
  const counts = kinds
    .filter((kind) => !monitorKinds.includes(kind) && kind !== secrets)
    .map(async (kind) => {
      const { items } = await listAll(client, kind, { namespace }, signal)
      return items.filter(({ metadata }) => metadata.name.startsWith('fleet-')).length
    })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

function isTrue(object: KubeObject, type: string): boolean {
  const { status } = object as RpcRouter | UpstreamProvider
  return status?.conditions?.find((each) => each.type === type)?.status === 'True'
}
