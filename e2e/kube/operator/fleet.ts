// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Condition } from '../../../operator/api/status.ts'
import { apiVersion } from '../../../operator/api/group.ts'
import type { RpcRouter } from '../../../operator/api/rpc-router.ts'
import type { KubeClient } from '../../../operator/kube/client.ts'
import { listAll } from '../../../operator/kube/reflector.ts'
import type { KubeObject, Resource } from '../../../operator/kube/object.ts'
import {
  childKinds,
  monitorKinds,
  replicaSets,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import type { TestNamespace } from '../test-namespace.ts'

/** A minimal RpcRouter with `spec` merged over the defaults. */
export function routerObject(
  namespace: string | undefined,
  name: string,
  spec: object = {},
): KubeObject {
  return {
    apiVersion,
    kind: 'RpcRouter',
    metadata: { namespace, name },
    spec: {
      endpoints: [{ name: 'eth1', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' }],
      providerSelector: { matchLabels: { pool: name } },
      // Tests do not wait for `minReadySeconds`.
      pod: { rollout: { minReadySeconds: 0 } },
      ...spec,
    },
  } as KubeObject
}

/** A minimal UpstreamProvider of a router's pool. */
export function providerObject(
  namespace: string,
  pool: string,
  name: string,
  spec: object = {},
): KubeObject {
  return {
    apiVersion,
    kind: 'UpstreamProvider',
    metadata: { namespace, name, labels: { pool } },
    spec: {
      chainId: 'ETH1',
      apiInterface: 'jsonrpc',
      nodeUrls: [{ url: `https://${name}.example` }],
      ...spec,
    },
  } as KubeObject
}

export function secretObject(
  namespace: string,
  name: string,
  stringData: Readonly<Record<string, string>>,
): KubeObject {
  const metadata = { namespace, name }
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData } as KubeObject
}

/** A header with a key of a Secret. */
export function keyHeader(secret: string, key = 'key'): object {
  const header = { name: 'x-api-key', valueFrom: { secretKeyRef: { name: secret, key } } }
  return { nodeUrls: [{ url: 'https://node.example', auth: { headers: [header] } }] }
}

/** Helpers for the objects in a test's namespace. */
export class Fleet {
  readonly namespace: string
  readonly client: KubeClient
  readonly signal: AbortSignal

  constructor({ namespace, client, signal }: TestNamespace) {
    this.namespace = namespace
    this.client = client
    this.signal = signal
  }

  async create(resource: Resource, object: KubeObject): Promise<KubeObject> {
    return this.client.create(resource, object, this.signal)
  }

  router(name: string, spec?: object): Promise<KubeObject> {
    return this.create(rpcRouters, routerObject(this.namespace, name, spec))
  }

  provider(pool: string, name: string, spec?: object): Promise<KubeObject> {
    const object = providerObject(this.namespace, pool, name, spec)
    return this.create(upstreamProviders, object)
  }

  secret(name: string, data: Readonly<Record<string, string>>): Promise<KubeObject> {
    return this.create(secrets, secretObject(this.namespace, name, data))
  }

  get<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T> {
    return this.client.get(resource, { namespace: this.namespace, name }, this.signal)
  }

  patch<T extends KubeObject>(resource: Resource<T>, name: string, patch: object): Promise<T> {
    const ref = { namespace: this.namespace, name }
    return this.client.mergePatch(resource, ref, patch, this.signal)
  }

  async delete(resource: Resource, name: string): Promise<void> {
    await this.client.delete(resource, { namespace: this.namespace, name }, this.signal)
  }

  async list<T extends KubeObject>(resource: Resource<T>): Promise<readonly T[]> {
    const { namespace } = this
    return (await listAll(this.client, resource, { namespace }, this.signal)).items
  }

  /** All objects of the namespace of our kinds and of the kinds of a router's children. */
  async everything(): Promise<readonly KubeObject[]> {
    const kinds: readonly Resource[] = [...childKinds, replicaSets, rpcRouters, upstreamProviders]
    const known = kinds.filter((kind) => !monitorKinds.includes(kind))
    return (await Promise.all(known.map((kind) => this.list(kind)))).flat()
  }

  /** The version of each object of a namespace, by kind and name. */
  async versions(): Promise<Readonly<Record<string, string | undefined>>> {
    const entries = (await this.everything()).map(({ kind, metadata }) => {
      return [`${kind} ${metadata.name}`, metadata.resourceVersion] as const
    })
    return Object.fromEntries(entries)
  }

  /** Waits until a condition of a router has a reason, and returns it. */
  routerIs(name: string, type: string, reason: string, timeoutMs = 60_000): Promise<Condition> {
    return this.#is(rpcRouters, name, type, reason, timeoutMs)
  }

  providerIs(name: string, type: string, reason: string, timeoutMs = 60_000): Promise<Condition> {
    return this.#is(upstreamProviders, name, type, reason, timeoutMs)
  }

  #is(resource: Resource, name: string, type: string, reason: string, timeoutMs: number) {
    return eventually(async () => {
      const object = await this.get(resource, name)
      const { status, metadata } = object as RpcRouter
      const condition = status?.conditions?.find((each) => each.type === type)
      if (condition?.reason !== reason || condition.observedGeneration !== metadata.generation)
        throw new Error(`${name}: ${type} is ${JSON.stringify(condition)}, not ${reason}`)
      return condition
    }, timeoutMs)
  }
}
