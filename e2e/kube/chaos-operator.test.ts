// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import type { KubeObserver } from '../../operator/kube/observer.ts'
import { seededRandom } from '../../proxy/clock/random.ts'
import { runSchedule } from './chaos-schedule.ts'
import { type Picture, pictureOf } from './cluster-picture.ts'
import { FleetScript } from './fleet-script.ts'
import { hastyClock } from './hasty-clock.ts'
import { createOperator } from './in-process-operator.ts'
import { installCrds } from './install-crds.ts'
import type { Access } from './kubeconfig-file.ts'
import { kubectlFor } from './kubectl.ts'
import { PretendKubelet } from './pretend-kubelet.ts'
import { namespaces } from './resources.ts'
import { useNamespace } from './test-namespace.ts'

/*
 * The whole operator through schedules of faults: afterwards the cluster is in the state that an undisturbed run
 * reaches, and stays there. `make chaos-kube SEEDS=200 FROM=1` runs more of them.
 */

const { namespace, client, access, kubeconfig, signal } = useNamespace()
const seeds = Number(process.env['SEEDS'] || 12)
const from = Number(process.env['FROM'] || 1)
const steps = 25

beforeAll(() => installCrds(kubectlFor(kubeconfig, namespace)))

/** The operator and the kubelet's part in one namespace, until the signal is aborted. Counts writes. */
async function live(through: Access, where: string, stop: AbortSignal, writes: { count: number }) {
  const errors: string[] = []
  const observer: KubeObserver = {
    requested: (_, verb) => {
      if (!['get', 'list', 'watch'].includes(verb)) writes.count += 1
    },
    reconciled: ({ key, error }) =>
      error !== undefined && errors.push(`${key}: ${(error as Error).message}`),
  }
  // Ten times faster: what it waits for after a failure must not make the test wait.
  const clock = hastyClock(10)
  const { run } = createOperator({ access: through, namespaces: [where], observer, clock })
  const kubelet = new PretendKubelet({ client, namespace: where })
  await Promise.all([run(stop), kubelet.run(stop)])
}

async function withNamespace<T>(name: string, use: () => Promise<T>): Promise<T> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await client.create(namespaces, object, signal)
  try {
    return await use()
  } finally {
    await client.delete(namespaces, { name }, {}, signal)
  }
}

/** Each difference between two pictures, in a line. */
function differences(actual: Picture, expected: Picture): string[] {
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)])
  return [...names]
    .filter((name) => !isDeepStrictEqual(actual[name], expected[name]))
    .map(
      (name) => `${name}: ${JSON.stringify(actual[name])}\n  NOT ${JSON.stringify(expected[name])}`,
    )
}

describe.concurrent('after a schedule of faults the cluster is as it would have been', () => {
  test.each(Array.from({ length: seeds }, (_, at) => from + at))(
    'seed %i',
    async (seed) => {
      const [where, reference] = [`${namespace}-${seed}`, `${namespace}-${seed}-reference`]
      const writes = { count: 0 }
      const script = new FleetScript(client, where, signal)
      const compare = async () => {
        const [actual, expected] = await Promise.all([
          pictureOf(client, where, signal),
          pictureOf(client, reference, signal),
        ])
        expect(Object.keys(expected).length).toBeGreaterThan(0)
        const found = differences(actual, expected)
        if (found.length > 0) throw new Error(found.join('\n'))
      }
      await withNamespace(where, () =>
        withNamespace(reference, () =>
          runSchedule({
            seed,
            access,
            steps,
            start: (through, stop) => live(through, where, stop, writes),
            async act(random, step) {
              await script.act(random)
              if (step === steps - 1) await script.heal(seededRandom(seed))
            },
            async afterwards(stop) {
              // The same wishes, at once, for an operator that nothing disturbs.
              await script.replayIn(reference)
              return live(access, reference, stop, { count: 0 })
            },
            async settled() {
              await compare()
              const before = writes.count
              await pause(500)
              expect(writes.count - before, 'writes after all was done').toBe(0)
              await compare()
            },
            settleMs: 90_000,
          }),
        ),
      )
    },
    180_000,
  )
})
