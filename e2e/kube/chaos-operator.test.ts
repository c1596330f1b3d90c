// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, test } from 'vitest'
import type { KubeObserver } from '../../operator/kube/observer.ts'
import { seededRandom } from '../../proxy/clock/random.ts'
import { runSchedule } from './chaos-schedule.ts'
import { type Picture, pictureOf } from './cluster-picture.ts'
import { eventually } from './eventually.ts'
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
    reconciled: ({ key, error }) => error !== undefined && errors.push(`${key}: ${String(error)}`),
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

/** What an undisturbed operator makes of the same wishes. Taken when it has not changed for a while. */
async function undisturbed(script: FleetScript, where: string): Promise<Picture> {
  return withNamespace(where, async () => {
    const stop = new AbortController()
    const writes = { count: 0 }
    const running = live(access, where, stop.signal, writes)
    await script.replayIn(where)
    await eventually(async () => {
      const before = writes.count
      await new Promise((resolve) => setTimeout(resolve, 700))
      return before === writes.count && before > 0
    }, 40_000)
    const picture = await pictureOf(client, where, signal)
    stop.abort()
    await running
    return picture
  })
}

describe.concurrent('after a schedule of faults the cluster is as it would have been', () => {
  test.each(Array.from({ length: seeds }, (_, at) => from + at))(
    'seed %i',
    async (seed) => {
      const where = `${namespace}-${seed}`
      const writes = { count: 0 }
      await withNamespace(where, async () => {
        const script = new FleetScript(client, where, signal)
        let expected: Picture | null = null
        await runSchedule({
          seed,
          access,
          steps,
          start: (through, stop) => live(through, where, stop, writes),
          async act(random, step) {
            await script.act(random)
            if (step === steps - 1) await script.heal(seededRandom(seed))
          },
          async settled() {
            expected ??= await undisturbed(script, `${where}-ref`)
            expect(await pictureOf(client, where, signal)).toEqual(expected)
            const before = writes.count
            await new Promise((resolve) => setTimeout(resolve, 500))
            expect(writes.count - before, 'writes after it was all done').toBe(0)
          },
          settleMs: 60_000,
        })
        expect(Object.keys(expected!).length).toBeGreaterThan(0)
      })
    },
    120_000,
  )
})
