// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Operator } from '../../operator/controllers/operator.ts'
import type { KubeClient } from '../../operator/kube/client.ts'
import { type Clock, systemClock, systemRandom } from '../../operator/kube/clock.ts'
import type { KubeObserver } from '../../operator/kube/observer.ts'
import { bundledChains } from '../../operator/translate/bundled-chains.generated.ts'
import { knownChains } from '../../operator/translate/spec-sources.ts'

interface OperatorSettings {
  /** Null for all. */
  readonly namespaces: readonly string[] | null
  readonly observer?: KubeObserver
  readonly workers?: number
  /** Not that of its requests: an API server on a busy machine answers no sooner because the backoffs are short. */
  readonly clock?: Clock
}

/**
 * The whole operator but its program, in this process: without lease, and with a password that is
 * always the same, so that two runs can be compared. It writes through the client that it reads by.
 */
export function createOperator(
  client: KubeClient,
  { namespaces, observer = {}, workers = 4, clock = systemClock }: OperatorSettings,
): Operator {
  return new Operator({
    client,
    clock,
    random: systemRandom,
    observer,
    namespaces,
    images: { router: 'localhost/rpc-router:test', redis: 'localhost/redis:test' },
    chains: knownChains(bundledChains),
    workers,
    instance: 'in-process',
    generatePassword: () => 'always-the-same-in-a-test',
  })
}

/** Until the signal is aborted. */
export async function run(operator: Operator, signal: AbortSignal): Promise<void> {
  await Promise.all([operator.watch(signal), operator.lead(signal)])
}

/**
 * The machine's time, so many times faster: what waits for a second waits for a part of it. For backoffs and whatever comes
 * again by itself; not for requests, which take as long as they take.
 */
export function hastyClock(times: number): Clock {
  return {
    nowMs: () => systemClock.nowMs() * times,
    wallMs: () => systemClock.wallMs(),
    after: (delayMs, run) => systemClock.after(delayMs / times, run),
  }
}
