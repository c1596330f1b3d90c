// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { Operator, type OperatorOptions } from '../../operator/controllers/operator.ts'
import type { KubeClient } from '../../operator/kube/client.ts'
import { type Clock, systemClock } from '../../operator/kube/clock.ts'
import { loadBundledSpecs } from '../../proxy/chain/load-catalog.ts'

const bundled = await loadBundledSpecs()

/** The clock does not apply to requests, since short backoffs do not make an API server faster. */
export type OperatorSettings = Pick<OperatorOptions, 'namespaces'> &
  Partial<
    Pick<OperatorOptions, 'observer' | 'workers' | 'clock' | 'readPodPage' | 'maxRollingRouters'>
  >

/**
 * The whole operator in this process, without a lease, and with a fixed password, so that two runs
 * are comparable. It reads and writes with the same client.
 */
export function createOperator(client: KubeClient, settings: OperatorSettings): Operator {
  return new Operator({
    client,
    clock: systemClock,
    random: seededRandom(1),
    observer: {},
    images: { router: 'localhost/rpc-router:test', redis: 'localhost/redis:test' },
    allowLinkLocal: false,
    bundled,
    workers: 4,
    maxRollingRouters: 100,
    instance: 'in-process',
    podNamespace: null,
    readPodPage: null,
    generatePassword: () => 'always-the-same-in-a-test',
    ...settings,
  })
}

/** Runs until the signal is aborted. */
export async function run(operator: Operator, signal: AbortSignal): Promise<void> {
  await Promise.all([operator.watch(signal), operator.lead(signal)])
}

/**
 * The machine's clock, `times` faster. It shortens backoffs and periodic work. It is not for
 * requests, whose duration does not change.
 */
export function hastyClock(times: number): Clock {
  return {
    nowMs: () => systemClock.nowMs() * times,
    wallMs: () => systemClock.wallMs(),
    after: (delayMs, run) => systemClock.after(delayMs / times, run),
  }
}
