// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { kubeYaml, type YamlMap } from '../api/crd/kube-yaml.ts'
import { testGoldenFiles } from '../testing/golden-files.ts'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import { ownRedisOf } from '../translate/state-store.ts'
import { buildFleet } from './build-children.ts'
import { buildRedis } from './redis.ts'

const context = {
  images: { router: 'rpc-router:test', redis: 'redis:test' },
  allowLinkLocal: false,
  monitors: new Set(['PodMonitor', 'ServiceMonitor']),
  chainIdOf: (chainId: string) => chainId,
}

/** Builds the objects of an input, limited to the kinds under its key `show`. */
function build(input: string): string {
  const scenario = readScenario(input)
  const { config, refusals, unresolvedRefs } = translateScenario(scenario)
  expect([...refusals, ...unresolvedRefs]).toEqual([])
  const { router, text } = scenario
  const kinds = text['show'] as readonly string[] | undefined
  const objects = [
    ...ownRedisOf(router.spec).flatMap((redis) => buildRedis(router, redis, 'password', context)),
    ...(config === null ? [] : buildFleet(router, config, context)),
  ]
  const selected = objects.filter(({ kind }) => kinds?.includes(kind) ?? true)
  return kubeYaml(JSON.parse(JSON.stringify(selected)) as readonly YamlMap[])
}

describe('the objects of a router', () => {
  testGoldenFiles(join(import.meta.dirname, 'testdata'), build)
})
