// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import assert from 'node:assert/strict'
import type { Stretch as Counted } from '../demo/steady-load.ts'
import { eventually } from '../processes/eventually.ts'
import { nodePod, type Place } from './cluster.ts'

/** Counts of the requests in a stretch of time. */
interface Stretch extends Pick<Counted, 'requests' | 'failed' | 'failures'> {
  readonly seconds: number
  readonly byUpstream: Readonly<Record<string, number>>
}

/** A steady load from inside the cluster, through the Service of a router. */
export class Load {
  readonly #place: Place
  readonly #pod: string
  readonly #perSecond: number

  private constructor(place: Place, pod: string, perSecond: number) {
    this.#place = place
    this.#pod = pod
    this.#perSecond = perSecond
  }

  /** @param more further arguments of `pods/load.ts` */
  static async start(
    place: Place,
    router: string,
    perSecond = 200,
    pod = 'load',
    ...more: readonly string[]
  ): Promise<Load> {
    const url = `http://${router}-router.${place.namespace}.svc:3360`
    await place.apply(nodePod(pod, 'load', url, String(perSecond), ...more))
    await place.run('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=60s')
    const load = new Load(place, pod, perSecond)
    await eventually(async () => (await load.now()).requests > 0, 20_000)
    return load
  }

  /** Runs an action under load. Throws if a request failed. */
  async during(name: string, action: () => Promise<void>): Promise<Stretch> {
    const stretch = await this.measure(name, action)
    const { requests, seconds, failures } = stretch
    assert.deepEqual(failures, {}, name)
    assert.ok(requests / seconds > this.#perSecond * 0.8, `${name}: the load was not steady`)
    return stretch
  }

  /** Runs an action under load, and prints its figures. */
  async measure(name: string, action: () => Promise<void>): Promise<Stretch> {
    await this.#ask(`enter/${encodeURIComponent(name)}`)
    await action()
    const stretch = await this.#ask('leave')
    const { requests, seconds, failed, failures, byUpstream } = stretch
    const rate = Math.round(requests / seconds)
    const told = `${name}: ${requests} requests in ${Math.round(seconds)} s, ${rate} a second, ${failed} failed`
    process.stderr.write(`${told} ${JSON.stringify({ ...byUpstream, ...failures })}\n`)
    return stretch
  }

  now(): Promise<Stretch> {
    return this.#ask('now')
  }

  async stop(): Promise<void> {
    await this.#place.run('delete', 'pod', this.#pod)
  }

  async #ask(path: string): Promise<Stretch> {
    return JSON.parse(await this.#place.ask(`${this.#pod}:8080`, `/${path}`))
  }
}

const settledMs = 150_000

/**
 * Resolves once the current generation of a router serves and no older pod remains.
 *
 * @param before the previous result of `stateOf`, which must change first
 */
export async function settled(place: Place, name: string, before = ''): Promise<void> {
  await eventually(async () => {
    const { metadata, status } = await place.get('rpcrouter', name)
    const of = (wanted: string) => status.conditions.find((each: any) => each.type === wanted)
    const { items } = await place.get('pods', '-l', status.selector)
    assert.notEqual(await stateOf(place, name), before, 'nothing has changed yet')
    assert.equal(status.observedGeneration, metadata.generation)
    assert.deepEqual([of('Ready').status, of('Progressing').reason], ['True', 'RolloutComplete'])
    assert.deepEqual([items.length, status.updatedReplicas], [status.replicas, status.replicas])
    assert.ok(
      items.every((pod: any) => !pod.metadata.deletionTimestamp),
      'pods are still ending',
    )
    await place.run('rollout', 'status', `deployment/${name}-router`, '--timeout=1s')
  }, settledMs)
}

/** A fingerprint of the templates and the configs of a router's pods. */
export async function stateOf(place: Place, name: string): Promise<string> {
  const { metadata, spec } = await place.get('deployment', `${name}-router`)
  const {
    'deployment.kubernetes.io/revision': _revision,
    // The hash of the served config follows later than the config.
    'rpcrouter.dev/last-good-hash': _good,
    ...annotations
  } = metadata.annotations
  return JSON.stringify([metadata.generation, annotations, spec.template.metadata.annotations])
}
