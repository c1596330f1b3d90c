// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Operator } from '../../operator/controllers/operator.ts'
import { type Clock, systemClock, systemRandom } from '../../operator/kube/clock.ts'
import type { KubeObserver } from '../../operator/kube/observer.ts'
import { bundledChains } from '../../operator/translate/bundled-chains.generated.ts'
import { knownChains } from '../../operator/translate/known-chains.ts'
import { clientOf } from './cluster-access.ts'
import type { Access } from './kubeconfig-file.ts'

export interface InProcessOptions {
  readonly access: Access
  /** Null for all. */
  readonly namespaces: readonly string[] | null
  readonly observer?: KubeObserver
  readonly workers?: number
  readonly clock?: Clock
}

/**
 * The whole operator but its program, in this process: without lease, and with a password that is
 * always the same, so that two runs can be compared.
 */
export function createOperator({
  access,
  namespaces,
  observer = {},
  workers = 4,
  clock = systemClock,
}: InProcessOptions) {
  const client = clientOf(access, { observer, clock })
  const operator = new Operator({
    client,
    writer: client,
    clock,
    random: systemRandom,
    observer,
    namespaces,
    build: {
      images: { router: 'localhost/router:test', redis: 'localhost/redis:test' },
      monitors: new Set(),
    },
    chains: knownChains(bundledChains),
    workers,
    instance: 'in-process',
    generatePassword: () => 'always-the-same-in-a-test',
  })
  return {
    operator,
    /** Runs until the signal is aborted. */
    async run(signal: AbortSignal): Promise<void> {
      await Promise.all([operator.watch(signal), operator.lead(signal)])
      await client.close()
    },
  }
}
