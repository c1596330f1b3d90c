// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Operator } from '../../operator/controllers/operator.ts'
import type { KubeClient } from '../../operator/kube/client.ts'
import { systemClock, systemRandom } from '../../operator/kube/clock.ts'
import { bundledChains } from '../../operator/translate/bundled-chains.generated.ts'
import { knownChains } from '../../operator/translate/known-chains.ts'

/** The operator inside of the test, for one namespace, without election. */
export function startOperator(client: KubeClient, namespace: string): AsyncDisposable {
  const stop = new AbortController()
  const operator = new Operator({
    client,
    writer: client,
    clock: systemClock,
    random: systemRandom,
    observer: {},
    namespaces: [namespace],
    build: {
      images: { router: 'localhost/rpc-router:test', redis: 'localhost/redis:test' },
      monitors: new Set(),
    },
    chains: knownChains(bundledChains),
    workers: 4,
    instance: 'test',
    generatePassword: () => 'generated',
  })
  const running = Promise.all([operator.watch(stop.signal), operator.lead(stop.signal)])
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}
