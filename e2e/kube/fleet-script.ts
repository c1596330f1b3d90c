// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../../operator/kube/client.ts'
import type { Random } from '../../operator/kube/clock.ts'
import { isNotFound } from '../../operator/kube/errors.ts'
import type { KubeObject } from '../../operator/kube/object.ts'
import type { Resource } from '../../operator/kube/resource.ts'
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
import { isUnbuilt } from '../../proxy/config/capabilities.ts'

const pools = ['blue', 'green'] as const
const routers = ['mainnet', 'testnet', 'archive']
const providers = ['alpha', 'beta', 'gamma', 'refused']
const secretNames = ['keys', 'more-keys']
const poolLabel = 'rpc.example.com/pool'

/** A router that asks for what is not built yet is refused as a whole, and then its last good config stays. */
const canShareState = ['shared-state', 'resp-cache'].every((key) => !isUnbuilt(key))

interface Put {
  readonly resource: Resource
  readonly object: KubeObject
}

/**
 * What people and others do in a namespace while the operator is at work, as lots draw it: routers and providers
 * come, change and go; keys are rotated, lost and found; somebody deletes or changes what is the operator's.
 */
export class FleetScript {
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #signal: AbortSignal
  /** What the users want now, by kind and name. */
  readonly #wanted = new Map<string, Put>()

  constructor(client: KubeClient, namespace: string, signal: AbortSignal) {
    this.#client = client
    this.#namespace = namespace
    this.#signal = signal
  }

  /** One change. */
  async act(random: Random): Promise<void> {
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random.next() * all.length)] as T
    const lot = random.next()
    if (lot < 0.3) await this.#put(rpcRouters, this.#router(pick(routers), random))
    else if (lot < 0.6) await this.#put(upstreamProviders, this.#provider(pick(providers), random))
    else if (lot < 0.7) await this.#put(secrets, this.#secret(pick(secretNames), random))
    else if (lot < 0.76) await this.#remove(rpcRouters, 'RpcRouter', pick(routers))
    else if (lot < 0.82) await this.#remove(upstreamProviders, 'UpstreamProvider', pick(providers))
    else if (lot < 0.87) await this.#remove(secrets, 'Secret', pick(secretNames))
    else await this.#vandalize(random)
  }

  /**
   * Makes good what would leave the state to history, since the last good config stays when the present one cannot
   * be served: every Secret is there, and every pool has a provider that works.
   */
  async heal(random: Random): Promise<void> {
    for (const name of secretNames)
      if (!this.#wanted.has(`Secret ${name}`)) await this.#put(secrets, this.#secret(name, random))
    for (const pool of pools)
      await this.#put(
        upstreamProviders,
        this.#object(upstreamProviders, `base-${pool}`, {
          metadata: { labels: { [poolLabel]: pool } },
          spec: {
            chainId: 'ETH1',
            apiInterface: 'jsonrpc',
            nodeUrls: [{ url: `https://${pool}.base.example` }],
          },
        }),
      )
  }

  /** The same wishes at once, in another namespace. */
  async replayIn(namespace: string): Promise<void> {
    for (const { resource, object } of this.#wanted.values()) {
      const metadata = { ...object.metadata, namespace }
      await this.#apply(resource, { ...object, metadata })
    }
  }

  #router(name: string, random: Random): KubeObject {
    const chance = (of: number) => random.next() < of
    const isScaled = chance(0.2)
    const endpoints = [
      { name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc', port: 3360 },
      ...(chance(0.4)
        ? [{ name: 'second', chainId: 'ETH1', apiInterface: 'jsonrpc', port: 3361 }]
        : []),
    ]
    return this.#object(rpcRouters, name, {
      spec: {
        endpoints,
        skipWebsocketVerification: true,
        providerSelector: { matchLabels: { [poolLabel]: pools[chance(0.5) ? 0 : 1] } },
        ...(isScaled
          ? { autoscaling: { minReplicas: 1, maxReplicas: 3 } }
          : { replicas: 1 + Math.floor(random.next() * 2) }),
        ...(chance(0.3) && canShareState && { sharedState: { mode: 'Managed', managed: {} } }),
        ...(chance(0.3) && { networkPolicy: { enabled: false } }),
        logging: { level: chance(0.5) ? 'info' : 'debug' },
        pod: { rollout: { minReadySeconds: 0, revisionHistoryLimit: 1 } },
      },
    })
  }

  #provider(name: string, random: Random): KubeObject {
    const labels = { [poolLabel]: pools[random.next() < 0.5 ? 0 : 1] }
    const key = secretNames[random.next() < 0.5 ? 0 : 1]
    const valueFrom = { secretKeyRef: { name: key, key: 'token' } }
    const url = `https://${name}-${Math.floor(random.next() * 4)}.example`
    const spec =
      // The chain has no such add-on. It never was good: one that was keeps its last good form.
      name === 'refused'
        ? { nodeUrls: [{ url, addons: ['no-such-addon'] }] }
        : random.next() < 0.5
          ? { nodeUrls: [{ url }] }
          : { nodeUrls: [{ url: `${url}/\${TOKEN}` }], variables: [{ name: 'TOKEN', valueFrom }] }
    return this.#object(upstreamProviders, name, {
      metadata: { labels },
      spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', ...spec },
    })
  }

  #secret(name: string, random: Random): KubeObject {
    const data = { token: btoa(`token-${Math.floor(random.next() * 1000)}`), other: btoa('x') }
    return this.#object(secrets, name, { data })
  }

  /** Deletes something of the operator's, or overwrites it. */
  async #vandalize(random: Random): Promise<void> {
    const kinds = [deployments, services, podDisruptionBudgets, configMaps] as const
    const resource: Resource = kinds[Math.floor(random.next() * kinds.length)]!
    const selection = { namespace: this.#namespace, labelSelector: childSelector }
    const { items } = await this.#client.list(resource, selection, this.#signal)
    const victim = items[Math.floor(random.next() * items.length)]
    if (victim === undefined) return
    try {
      if (random.next() < 0.5 || resource === configMaps)
        await this.#client.delete(resource, victim.metadata, {}, this.#signal)
      else {
        const labels = {
          'app.kubernetes.io/managed-by': 'vandal',
          'app.kubernetes.io/part-of': 'x',
        }
        await this.#client.mergePatch(
          resource,
          victim.metadata,
          { metadata: { labels } },
          this.#signal,
        )
      }
    } catch (error) {
      // It went by itself meanwhile.
      if (!isNotFound(error)) throw error
    }
  }

  #object({ kind, group, version }: Resource, name: string, rest: object): KubeObject {
    const { metadata, ...fields } = rest as { metadata?: object }
    return {
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      metadata: { namespace: this.#namespace, name, ...metadata },
      ...fields,
    }
  }

  async #put(resource: Resource, object: KubeObject): Promise<void> {
    this.#wanted.set(`${object.kind} ${object.metadata.name}`, { resource, object })
    await this.#apply(resource, object)
  }

  async #remove(resource: Resource, kind: string, name: string): Promise<void> {
    this.#wanted.delete(`${kind} ${name}`)
    await this.#client.delete(resource, { namespace: this.#namespace, name }, {}, this.#signal)
  }

  async #apply(resource: Resource, object: KubeObject): Promise<void> {
    await this.#client.apply(resource, object, { fieldManager: 'user', force: true }, this.#signal)
  }
}
