// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import type { KubeClient } from '../../operator/kube/client.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import { Controller } from '../../operator/kube/controller.ts'
import { isConflict, isNotFound } from '../../operator/kube/errors.ts'
import { objectKey, refOf, withoutManagedFields } from '../../operator/kube/object.ts'
import { Reflector } from '../../operator/kube/reflector.ts'
import { Store } from '../../operator/kube/store.ts'
import { type Condition, type Pod, pods } from './resources.ts'

/**
 * The fate of a pod: it works, it fails its readiness probe, it never starts, or its container ends
 * because it cannot serve its config.
 */
export type Fate = 'ready' | 'failing' | 'waiting' | 'refusing'

export interface PretendKubeletOptions {
  readonly client: KubeClient
  /** Default: all namespaces. */
  readonly namespace?: string
  /** Default: all pods become ready. */
  readonly fateOf?: (pod: Pod) => Fate
}

/**
 * Replaces the kubelet in a test cluster without machines. No container runs, and pods get the
 * status that a kubelet would write.
 */
export class PretendKubelet {
  readonly #options: PretendKubeletOptions
  readonly #store = new Store<Pod>()
  /** Number of assigned pod addresses. */
  #addresses = 0
  readonly #controller: Controller
  fateOf: (pod: Pod) => Fate

  constructor(options: PretendKubeletOptions) {
    this.#options = options
    this.fateOf = options.fateOf ?? (() => 'ready')
    this.#controller = new Controller({
      name: 'pretend-kubelet',
      reconcile: (key, { signal }) => this.#reconcile(key, signal),
      clock: systemClock,
      random: seededRandom(1),
      workers: 16,
      settleMs: 0,
    })
    this.#store.subscribe(({ object }) => this.#controller.enqueue(objectKey(object.metadata)))
  }

  /** Changes the fate of all pods, including running ones. */
  decide(fateOf: (pod: Pod) => Fate): void {
    this.fateOf = fateOf
    for (const pod of this.#store.list()) this.#controller.enqueue(objectKey(pod.metadata))
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#options
    const reflector = new Reflector({
      client,
      resource: pods,
      store: this.#store,
      keep: withoutManagedFields,
      clock: systemClock,
      random: seededRandom(1),
      ...(namespace !== undefined && { selection: { namespace } }),
    })
    await Promise.all([reflector.run(signal), this.#controller.run(signal)])
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const pod = this.#store.get(key)
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return
    const fate = this.fateOf(pod)
    const isReady = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
    const isRunning = pod.status?.phase === 'Running'
    if (isRunning === (fate !== 'waiting') && isReady === (fate === 'ready')) return
    const { resourceVersion, uid } = pod.metadata
    const podIP =
      pod.status?.podIP ?? `10.88.${(this.#addresses >> 8) & 255}.${this.#addresses++ & 255}`
    const status = { ...statusOf(pod, fate), podIP, podIPs: [{ ip: podIP }] }
    const patch = { metadata: { resourceVersion, uid }, status }
    try {
      await this.#options.client.mergePatch(pods, refOf(key), patch, signal, 'status')
    } catch (error) {
      // The pod changed or disappeared in the meantime, and its event will follow.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }
}

function statusOf(pod: Pod, fate: Fate): object {
  const at = `${new Date().toISOString().slice(0, 19)}Z`
  const isReady = fate === 'ready'
  const condition = (type: string, isTrue: boolean): Condition => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: at,
    ...(!isTrue && { reason: fate === 'failing' ? 'ContainersNotReady' : 'ContainerCreating' }),
  })
  if (fate === 'waiting') return { phase: 'Pending', conditions: [condition('Ready', false)] }
  return {
    phase: 'Running',
    startTime: pod.metadata.creationTimestamp ?? at,
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', isReady),
      condition('Ready', isReady),
    ],
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready: isReady,
      started: true,
      restartCount: 0,
      state:
        fate === 'refusing'
          ? { waiting: { reason: 'CrashLoopBackOff' }, running: null }
          : { running: { startedAt: at }, waiting: null },
      ...(fate === 'refusing' && {
        lastState: { terminated: { exitCode: 2, reason: 'Error', startedAt: at, finishedAt: at } },
      }),
    })),
  }
}
