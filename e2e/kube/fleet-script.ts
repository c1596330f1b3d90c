// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../../operator/kube/client.ts'
import type { Random } from '../../operator/kube/clock.ts'
import { isNotFound } from '../../operator/kube/errors.ts'
import type { KubeObject, Resource } from '../../operator/kube/object.ts'
import {
  configMaps,
  deployments,
  podDisruptionBudgets,
  rpcRouters,
  secrets,
  services,
  upstreamProviders,
} from '../../operator/resources/kinds.ts'
import { childSelector } from '../../operator/resources/labels.ts'
import { providerObject, routerObject } from './operator/fleet.ts'

const pools = ['blue', 'green']
const routers = ['mainnet', 'testnet', 'archive']
const providers = ['alpha', 'beta', 'gamma', 'refused']
const secretNames = ['keys', 'more-keys']

function pick<T>(all: readonly T[], random: Random): T {
  return all[Math.floor(random.next() * all.length)] as T
}

interface Put {
  readonly resource: Resource
  readonly object: KubeObject
}

/**
 * Random changes in a namespace while the operator works. They create, change and delete routers
 * and providers, rotate, delete and restore keys, and delete or change objects of the operator.
 */
export class FleetScript {
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #signal: AbortSignal
  /** Current objects of users, by kind and name. */
  readonly #wanted = new Map<string, Put>()

  constructor(client: KubeClient, namespace: string, signal: AbortSignal) {
    this.#client = client
    this.#namespace = namespace
    this.#signal = signal
  }

  async act(random: Random): Promise<void> {
    const one = (names: readonly string[]) => pick(names, random)
    const lot = random.next()
    if (lot < 0.3) await this.#put(rpcRouters, this.#router(one(routers), random))
    else if (lot < 0.6) await this.#put(upstreamProviders, this.#provider(one(providers), random))
    else if (lot < 0.7) await this.#put(secrets, this.#secret(one(secretNames), random))
    else if (lot < 0.76) await this.#remove(rpcRouters, one(routers))
    else if (lot < 0.82) await this.#remove(upstreamProviders, one(providers))
    else if (lot < 0.87) await this.#remove(secrets, one(secretNames))
    else await this.#vandalize(random)
  }

  /**
   * Repairs state that would depend on history, since the last good config outlives an invalid one.
   * Afterwards every Secret exists, and every pool has a working provider.
   */
  async heal(random: Random): Promise<void> {
    for (const name of secretNames)
      if (!this.#wanted.has(`Secret ${name}`)) await this.#put(secrets, this.#secret(name, random))
    for (const pool of pools)
      await this.#put(upstreamProviders, providerObject(this.#namespace, pool, `base-${pool}`))
  }

  /** Creates the same objects at once in another namespace. */
  async replayIn(namespace: string): Promise<void> {
    for (const { resource, object } of this.#wanted.values()) {
      const metadata = { ...object.metadata, namespace }
      await this.#apply(resource, { ...object, metadata })
    }
  }

  #router(name: string, random: Random): KubeObject {
    const chance = (of: number) => random.next() < of
    const ofEthereum = { chainId: 'ETH1', apiInterface: 'jsonrpc' }
    const second = { name: 'second', ...ofEthereum, port: 3361 }
    return routerObject(this.#namespace, name, {
      endpoints: [{ name: 'eth1', ...ofEthereum, port: 3360 }, ...(chance(0.4) ? [second] : [])],
      skipWebsocketVerification: true,
      providerSelector: { matchLabels: { pool: pick(pools, random) } },
      ...(chance(0.2)
        ? { autoscaling: { minReplicas: 1, maxReplicas: 3 } }
        : { replicas: pick([1, 2], random) }),
      ...(chance(0.3) && { sharedState: { mode: 'Managed', managed: {} } }),
      ...(chance(0.3) && { networkPolicy: { enabled: false } }),
      upstreams: { epochDuration: pick(['10m', '20m'], random) },
      pod: { rollout: { minReadySeconds: 0, revisionHistoryLimit: 0 } },
    })
  }

  #provider(name: string, random: Random): KubeObject {
    const secretKeyRef = { name: pick(secretNames, random), key: 'token' }
    const url = `https://${name}-${Math.floor(random.next() * 4)}.example`
    const keyed = {
      nodeUrls: [{ url: `${url}/\${TOKEN}` }],
      variables: [{ name: 'TOKEN', valueFrom: { secretKeyRef } }],
    }
    const spec = pick([{ nodeUrls: [{ url }] }, keyed], random)
    // The chain has no such add-on. The provider was never valid, so it has no last good form.
    const refused = { nodeUrls: [{ url, addons: ['no-such-addon'] }] }
    const pool = pick(pools, random)
    return providerObject(this.#namespace, pool, name, name === 'refused' ? refused : spec)
  }

  #secret(name: string, random: Random): KubeObject {
    const data = { token: btoa(`token-${Math.floor(random.next() * 1000)}`), other: btoa('x') }
    const metadata = { namespace: this.#namespace, name }
    return { apiVersion: 'v1', kind: 'Secret', metadata, data } as KubeObject
  }

  /** Deletes or overwrites an object of the operator. */
  async #vandalize(random: Random): Promise<void> {
    const kinds: readonly Resource[] = [deployments, services, podDisruptionBudgets, configMaps]
    const resource = pick(kinds, random)
    const selection = { namespace: this.#namespace, labelSelector: childSelector }
    const { items } = await this.#client.list(resource, selection, this.#signal)
    if (items.length === 0) return
    const { metadata } = pick(items, random)
    const labels = { 'app.kubernetes.io/managed-by': 'vandal', 'app.kubernetes.io/part-of': 'x' }
    const patch = { metadata: { labels } }
    try {
      if (random.next() < 0.5 || resource === configMaps)
        await this.#client.delete(resource, { ...metadata, uid: undefined }, this.#signal)
      else await this.#client.mergePatch(resource, metadata, patch, this.#signal)
    } catch (error) {
      // The object was deleted in the meantime.
      if (!isNotFound(error)) throw error
    }
  }

  async #put(resource: Resource, object: KubeObject): Promise<void> {
    this.#wanted.set(`${object.kind} ${object.metadata.name}`, { resource, object })
    await this.#apply(resource, object)
  }

  async #remove(resource: Resource, name: string): Promise<void> {
    this.#wanted.delete(`${resource.kind} ${name}`)
    await this.#client.delete(resource, { namespace: this.#namespace, name }, this.#signal)
  }

  async #apply(resource: Resource, object: KubeObject): Promise<void> {
    await this.#client.apply(resource, object, { fieldManager: 'user', force: true }, this.#signal)
  }
}
