// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { KubeObserver } from '../../../operator/kube/observer.ts'
import { seededRandom } from '../../../proxy/clock/testing/seeded-random.ts'
import { runSchedule } from './schedule.ts'
import { type Picture, pictureOf } from '../cluster-picture.ts'
import { FleetScript } from '../fleet-script.ts'
import { hastyClock, createOperator, run } from '../in-process-operator.ts'
import { type Access, clientOf, impatient } from '../access.ts'
import { PretendKubelet } from '../pretend-kubelet.ts'
import { namespaces } from '../resources.ts'
import { useNamespace } from '../test-namespace.ts'

/*
 * The whole operator under schedules of faults. Afterwards the cluster reaches the state of an
 * undisturbed run, and remains in it. `make chaos-kube SEEDS=200 FROM=1` runs more schedules.
 */

const { namespace, client, access, signal } = useNamespace()
const seeds = Number(process.env['SEEDS'] || 12)
const from = Number(process.env['FROM'] || 1)
const steps = 25
/** Silence of a watch, short so that the test does not wait. */
const silenceMs = 15_000

/** The record of an operator: the number of writes, and a line per reconcile and failure. */
class Journal {
  writes = 0
  readonly lines: string[] = []
  readonly observer: KubeObserver = {
    requested: (_, verb) => {
      if (!['get', 'list', 'watch'].includes(verb)) this.writes += 1
    },
    reconciled: ({ controller, key, result, error }) =>
      this.#note(`${controller} ${key} ${result} ${(error as Error | undefined)?.message ?? ''}`),
    listed: (resource, objects) => this.#note(`listed ${objects} ${resource}`),
    reflectFailed: (resource, verb, { name, message }) => {
      // Watches time out sooner than the server sends bookmarks.
      if (name !== 'TimeoutError') this.#note(`${verb} ${resource}: ${message}`)
    },
  }

  #note(line: string): void {
    this.lines.push(`${Math.round(performance.now())} ${line}`)
  }
}

/** Runs the operator and a fake kubelet in one namespace until the signal is aborted. */
async function live(through: Access, where: string, stop: AbortSignal, { observer }: Journal) {
  // A clock ten times faster keeps backoffs from delaying the test.
  const clock = hastyClock(10)
  const own = impatient(clientOf(through, { observer }), silenceMs)
  const operator = createOperator(own, { namespaces: [where], observer, clock })
  const kubelet = new PretendKubelet({ client, namespace: where })
  await Promise.all([run(operator, stop), kubelet.run(stop)])
  await own.close()
}

async function withNamespace<T>(name: string, use: () => Promise<T>): Promise<T> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await client.create(namespaces, object, signal)
  try {
    return await use()
  } finally {
    await client.delete(namespaces, { name }, signal)
  }
}

/** The differences between two pictures, one per line. */
function differences(actual: Picture, expected: Picture): string[] {
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)])
  return [...names]
    .filter((name) => !isDeepStrictEqual(actual[name], expected[name]))
    .map(
      (name) => `${name}: ${JSON.stringify(actual[name])}\n  NOT ${JSON.stringify(expected[name])}`,
    )
}

describe.concurrent('after a schedule of faults the cluster equals an undisturbed one', () => {
  test.each(Array.from({ length: seeds }, (_, at) => from + at))(
    'seed %i',
    async (seed) => {
      const [where, reference] = [`${namespace}-${seed}`, `${namespace}-${seed}-reference`]
      const journal = new Journal()
      const script = new FleetScript(client, where, signal)
      const compare = async () => {
        const [actual, expected] = await Promise.all([
          pictureOf(client, where, signal),
          pictureOf(client, reference, signal),
        ])
        expect(Object.keys(expected).length).toBeGreaterThan(0)
        const found = differences(actual, expected)
        if (found.length > 0)
          throw new Error([...found, 'It did last:', ...journal.lines.slice(-60)].join('\n'))
      }
      await withNamespace(where, () =>
        withNamespace(reference, () =>
          runSchedule({
            seed,
            access,
            steps,
            start: (through, stop) => live(through, where, stop, journal),
            async act(random, step) {
              await script.act(random)
              if (step === steps - 1) await script.heal(seededRandom(seed))
            },
            async afterwards(stop) {
              // Creates the same objects at once for an operator without faults.
              await script.replayIn(reference)
              return live(access, reference, stop, new Journal())
            },
            async settled() {
              await compare()
              const before = journal.writes
              await pause(500)
              expect(journal.writes - before, 'writes after all was done').toBe(0)
              await compare()
            },
            settleMs: 180_000,
          }),
        ),
      )
    },
    300_000,
  )
})
