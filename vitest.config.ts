// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { checkNode } from './scripts/check-node.ts'

checkNode()

const onRealApi = 'e2e/kube/**/*.test.ts'
const onRealRedis = 'e2e/state/**/*.test.ts'
/** `make e2e`. */
const onRealCluster = 'e2e/cluster/**'
/** What takes minutes: `make test-slow`. */
const slow = '**/*.slow.test.ts'
/** Of the suites on real nodes those whose nodes are built in a minute or two. */
const onQuickNodes = 'e2e/nodes/suites/{bitcoin-*,decoders,grpc-interop}.test.ts'

/** Runs suites that mostly wait first. At the end, they would leave a core idle. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification) => Number(project.name !== 'state')
    const sorted = await super.sort(files) // oxlint-disable-line no-array-sort
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: WaitingFirst },
    // Spawning a program copies the page tables of its parent, which threads would share.
    pool: 'forks',
    // Many tests wait for a real API or a process, so two cores run four at a time.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // A test that hangs must fail; a slow test on a busy machine must pass.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: 'e2e/processes/every-test.fixture.ts',
    restoreMocks: true,
    // Modules load once, which saves a quarter of the CPU. So no test may leave a global changed.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['{proxy,operator,e2e,bench,scripts}/**/*.test.ts'],
          // Suites of e2e/nodes need real nodes: below, and all in vitest.nodes.config.ts.
          exclude: [
            ...configDefaults.exclude,
            onRealApi,
            onRealRedis,
            onRealCluster,
            'e2e/nodes/suites/**',
            slow,
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'kube',
          include: [onRealApi],
          exclude: [...configDefaults.exclude, slow],
          globalSetup: 'e2e/kube/global-setup.ts',
        },
      },
      {
        extends: true,
        test: { name: 'state', include: [onRealRedis] },
      },
      {
        extends: true,
        test: {
          name: 'nodes',
          include: [onQuickNodes],
          globalSetup: 'e2e/nodes/build/global-setup.ts',
        },
      },
    ],
  },
})
