// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../../proxy/clock/testing/seeded-random.ts'
import { VirtualClock } from '../../../proxy/clock/testing/virtual-clock.ts'
import type { Condition } from '../../api/status.ts'
import type { ReadPodPage } from '../../cache/fleet-observer.ts'
import type { KubeObject, Resource } from '../../kube/object.ts'
import { FakeApiServer } from '../../kube/testing/fake-api-server.ts'
import {
  type Deployment,
  childKinds,
  deployments,
  replicaSets,
  rpcRouters,
  upstreamProviders,
} from '../../resources/kinds.ts'
import { testSpecs } from '../../testing/specs.ts'
import { Operator } from '../operator.ts'

const namespace = 'ns'

interface ServingOptions {
  readonly providers?: readonly string[]
  /** Fields of the router's spec. */
  readonly spec?: object
  readonly pods?: number
}

/** The operator on a fake API server in virtual time. The test acts as Kubernetes' controllers. */
export class OperatorHarness implements AsyncDisposable {
  readonly clock = new VirtualClock()
  readonly api: FakeApiServer
  readonly failures: string[] = []
  /** The keys of all reconciled objects, in order. */
  readonly reconciled: string[] = []
  readonly operator: Operator
  readonly #stop = new AbortController()
  readonly #running: Promise<unknown>

  /**
   * @param api of a previous operator, to test a takeover
   * @param namespaces null for all
   */
  constructor(
    api = new FakeApiServer(),
    namespaces: readonly string[] | null = null,
    readPodPage: ReadPodPage | null = null,
    maxRollingRouters = 100,
  ) {
    this.api = api
    const { client } = api
    this.operator = new Operator({
      client,
      clock: this.clock,
      random: seededRandom(1),
      observer: {
        reconciled: ({ error, key }) => {
          this.reconciled.push(key)
          if (error instanceof Error) this.failures.push(error.message)
        },
      },
      namespaces,
      allowLinkLocal: false,
      images: { router: 'router:test', redis: 'redis:test' },
      bundled: testSpecs,
      workers: 2,
      maxRollingRouters,
      instance: 'operator-0',
      podNamespace: 'system',
      readPodPage,
      generatePassword: (of) => `password-of-${of.split('/')[1]}`,
    })
    const { signal } = this.#stop
    this.#running = Promise.all([this.operator.watch(signal), this.operator.lead(signal)])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** Advances the clock; by default, far enough for all short delays. */
  async pass(ms = 2_000): Promise<void> {
    await this.clock.advance(ms)
  }

  /** A harness with providers and a router `r`, all of whose pods serve. */
  static async serving({ providers = ['a'], spec = {}, pods }: ServingOptions = {}) {
    const harness = new OperatorHarness()
    for (const name of providers) harness.provider(name)
    harness.router('r', spec)
    await harness.pass()
    harness.rollOut('r', pods)
    await harness.pass()
    return harness
  }

  /** @param metadata overrides, such as another namespace */
  router(name: string, spec: object = {}, metadata: object = {}): void {
    this.api.put(rpcRouters, {
      apiVersion: 'rpcrouter.dev/v1alpha1',
      kind: 'RpcRouter',
      metadata: { namespace, name, ...metadata },
      spec: {
        endpoints: [{ name: 'eth1', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' }],
        providerSelector: {},
        ...spec,
      },
    } as KubeObject)
  }

  provider(
    name: string,
    url = `https://${name}.example`,
    spec: object = {},
    metadata: object = {},
  ): void {
    this.api.put(upstreamProviders, {
      apiVersion: 'rpcrouter.dev/v1alpha1',
      kind: 'UpstreamProvider',
      metadata: { namespace, name, ...metadata },
      spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls: [{ url }], ...spec },
    } as KubeObject)
  }

  get<T extends KubeObject>(resource: Resource<T>, name: string): T {
    const found = this.api.find(resource, { namespace, name })
    if (found === null) throw new Error(`there is no ${resource.kind} ${name}`)
    return found
  }

  names(resource: Resource): readonly string[] {
    return this.api.list(resource).map(({ metadata }) => metadata.name)
  }

  remove(resource: Resource, name: string): void {
    this.api.remove(resource, { namespace, name })
  }

  /** Deletes the objects of deleted routers. */
  collectGarbage(): void {
    const uids = this.api.list(rpcRouters).map(({ metadata }) => metadata.uid)
    for (const resource of childKinds)
      for (const { metadata } of this.api.list(resource))
        if (metadata.ownerReferences?.some(({ uid }) => !uids.includes(uid)))
          this.api.remove(resource, metadata)
  }

  status(resource: Resource, name: string): Readonly<Record<string, unknown>> {
    const { status = {} } = this.get(resource, name) as KubeObject & {
      status?: Record<string, unknown>
    }
    return status
  }

  /** Formats each condition as `Type=Status/Reason@generation: message`. */
  conditions(resource: Resource, name: string): Readonly<Record<string, string>> {
    const all = (this.status(resource, name)['conditions'] ?? []) as readonly Condition[]
    return Object.fromEntries(
      all.map(({ type, status, reason, observedGeneration, message }) => [
        type,
        `${status}/${reason}@${observedGeneration}: ${message}`,
      ]),
    )
  }

  /** Reasons of the written Events, in order. */
  get events(): readonly string[] {
    const all = this.api.list({
      group: 'events.k8s.io',
      version: 'v1',
      kind: 'Event',
      plural: 'events',
      namespaced: true,
    })
    return all.map((event) => (event as KubeObject & { reason: string }).reason)
  }

  /** Acts as the Deployment controller: creates a ReplicaSet with all pods. */
  rollOut(router: string, pods = 2): void {
    const { metadata, spec } = this.get<Deployment>(deployments, `${router}-router`)
    const hash = spec.template.metadata?.annotations?.['rpcrouter.dev/fixed-hash']
    const name = `${metadata.name}-${hash}`
    for (const { metadata: old } of this.api.list(replicaSets))
      if (old.labels?.['app.kubernetes.io/instance'] === router && old.name !== name)
        this.pods(old.name, 0)
    this.api.put(replicaSets, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace, name, labels: metadata.labels },
      spec: { replicas: pods, template: spec.template },
    } as KubeObject)
    this.pods(name, pods)
    this.count(router, {
      replicas: pods,
      updatedReplicas: pods,
      readyReplicas: pods,
      availableReplicas: pods,
    })
  }

  /** Sets the pods of a ReplicaSet. */
  pods(replicaSet: string, replicas: number): void {
    this.api.putStatus(replicaSets, { namespace, name: replicaSet }, { replicas })
  }

  /** Sets the status of the Deployment; by default its rollout is complete. */
  count(
    router: string,
    status: object,
    reason = 'NewReplicaSetAvailable',
    more: readonly object[] = [],
  ): void {
    const { metadata } = this.get(deployments, `${router}-router`)
    const progressing = {
      type: 'Progressing',
      status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True',
      reason,
    }
    this.api.putStatus(deployments, metadata, {
      observedGeneration: metadata.generation,
      conditions: [progressing, ...more],
      ...status,
    })
  }
}
