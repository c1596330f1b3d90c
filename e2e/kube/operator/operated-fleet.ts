// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll } from 'vitest'
import { PretendKubelet, type Fate } from '../pretend-kubelet.ts'
import type { Pod } from '../resources.ts'
import { useNamespace, type TestNamespace } from '../test-namespace.ts'
import { Fleet } from './fleet.ts'
import { runOperator, type RunningOperator, type RunOptions } from './running-operator.ts'

/** A namespace with an operator, in which pods become ready. */
export interface OperatedFleet {
  readonly place: TestNamespace
  readonly fleet: Fleet
  readonly kubelet: PretendKubelet
  /** Runs from before the first test to after the last. A test may replace it. */
  running: RunningOperator
  /** Starts another operator for the namespace. */
  run(): Promise<RunningOperator>
}

/** Call it once at the top of a test file, instead of `useNamespace`. */
export function useOperatedFleet(
  labels: Readonly<Record<string, string>> = {},
  fateOf: (pod: Pod) => Fate = () => 'ready',
  options: RunOptions = {},
): OperatedFleet {
  const place = useNamespace(labels)
  const { client, namespace } = place
  const operated = {
    place,
    fleet: new Fleet(place),
    kubelet: new PretendKubelet({ client, namespace, fateOf }),
    run: () => runOperator({ ...place, namespaces: [namespace] }, options),
  } as OperatedFleet
  beforeAll(async () => {
    void operated.kubelet.run(place.signal)
    operated.running = await operated.run()
  })
  afterAll(() => operated.running.stop())
  return operated
}
