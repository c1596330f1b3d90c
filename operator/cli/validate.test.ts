// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readManifests as readTable } from '../../e2e/kube/manifests/manifest-table.ts'
import { readManifests } from '../manifests/read-manifests.ts'
import { renderManifests } from '../manifests/render-manifests.ts'
import { bundledChains } from '../translate/bundled-chains.generated.ts'
import { knownChains } from '../translate/known-chains.ts'

const chains = knownChains(bundledChains)
const build = {
  images: { router: 'router:test', redis: 'redis:test' },
  monitors: new Set<string>(),
}

/** What `validate` lets pass of the manifests that the API server refuses, but for those that are a change alone. */
function passed(table: string): readonly string[] {
  return readTable(table)
    .filter(({ before }) => before === null)
    .filter(({ manifest }) => {
      const set = readManifests([{ name: 'file', text: stringify(manifest) }], 'ns')
      const isElsewhere = (problem: string) => /no UpstreamProvider of the namespace/.test(problem)
      const { problems } = renderManifests(set, chains, build)
      return set.problems.length === 0 && problems.every(isElsewhere)
    })
    .map(({ name }) => name)
}

test('of what the API server refuses, validate lets pass only what these rows say', () => {
  expect(passed('rpc-router.refused.yaml')).toMatchInlineSnapshot(`
    [
      "a name that is too long for a Service",
      "a name that begins with a digit",
      "a name with a dot",
      "two endpoints with one name",
      "two endpoints with one port",
      "two endpoints that both leave the port out",
      "a port outside of the standard range",
      "the port of the metrics",
      "an endpoint with the name of the metrics port",
      "a duration of two days",
      "health checks without a pause",
      "a request size that no router takes",
      "a selector with values for Exists",
      "a selector without values for In",
      "a floor above its cap",
      "more matches than answers",
      "more matches than answers can be asked for",
      "more groups than answers",
      "bounds without a bound",
      "two policies for one method",
      "a cache in Redis that does not say where",
      "a size for a cache that is not in memory",
      "shared state outside that does not say where",
      "settings of a managed Redis without one",
      "a user without a password",
      "a database of a cluster",
      "several nodes of a single Redis",
      "a spec source without its ConfigMap",
      "a spec source with a URL that it does not read",
      "replicas beside autoscaling",
      "fewer replicas at most than at least",
      "fewer replicas at most than the default least",
      "a grace period that cuts the drain short",
      "a rollout that may start no pod first",
      "a rollout that is stalled before a pod can be ready",
      "a label that is the operator's",
      "an annotation that is the operator's",
      "networks that may reach a load balancer that is none",
      "a network that is an address",
      "traffic from outside for a Service that is inside",
      "a client that is nobody in particular",
    ]
  `)
  expect(passed('upstream-provider.refused.yaml')).toMatchInlineSnapshot(`
    [
      "a name that is too long for a metric",
      "one URL twice",
      "one add-on twice",
      "a variable without its brace",
      "a variable without a source",
      "a variable with two sources",
      "a header with two values",
    ]
  `)
})
