// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Operator } from '../../operator/controllers/operator.ts'
import type { KubeClient } from '../../operator/kube/client.ts'
import { type Clock, systemClock, systemRandom } from '../../operator/kube/clock.ts'
import type { KubeObserver } from '../../operator/kube/observer.ts'
import { bundledChains } from '../../operator/translate/bundled-chains.generated.ts'
import { knownChains } from '../../operator/translate/known-chains.ts'
import { clientOf, impatientClientOf } from './cluster-access.ts'
import type { Access } from './kubeconfig-file.ts'

interface OperatorSettings {
  /** Null for all. */
  readonly namespaces: readonly string[] | null
  readonly observer?: KubeObserver
  readonly workers?: number
  readonly clock?: Clock
}

export interface InProcessOptions extends OperatorSettings {
  readonly access: Access
  /** After how long without a word a watch is taken for dead; by default after as long as in production. */
  readonly silenceMs?: number
}

/**
 * The whole operator but its program, in this process: without lease, and with a password that is
 * always the same, so that two runs can be compared.
 *
 * Its clock is not that of its requests: an API server on a busy machine answers no sooner because the backoffs are short.
 */
export function createOperator({ access, silenceMs, ...settings }: InProcessOptions) {
  const { observer = {} } = settings
  const client =
    silenceMs === undefined
      ? clientOf(access, { observer })
      : impatientClientOf(access, silenceMs, { observer })
  const operator = operatorOn(client, settings)
  return {
    operator,
    /** Runs until the signal is aborted. */
    async run(signal: AbortSignal): Promise<void> {
      await Promise.all([operator.watch(signal), operator.lead(signal)])
      await client.close()
    },
  }
}

/** The operator for one namespace, from now until the disposal. */
export function startOperator(client: KubeClient, namespace: string): AsyncDisposable {
  const stop = new AbortController()
  const operator = operatorOn(client, { namespaces: [namespace] })
  const running = Promise.all([operator.watch(stop.signal), operator.lead(stop.signal)])
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

export function operatorOn(
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
