// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Deployment, deployments } from '../resources/kinds.ts'
import { routerObjectName } from '../translate/object-names.ts'
import { nothingRuns, type Running } from '../translate/translation.ts'
import { belongsTo, type ChildApplier } from './child-applier.ts'
import { revisionOf } from './revisions.ts'

/** What there is of each router's pods, as of now. */
export class RunningFleets {
  readonly #children: Pick<ChildApplier, 'latest'>

  constructor(children: Pick<ChildApplier, 'latest'>) {
    this.#children = children
  }

  /** Null: there is none, or none that is the router's. */
  deployment({ metadata }: Pick<KubeObject, 'metadata'>): Deployment | null {
    const ref = { namespace: metadata.namespace, name: routerObjectName({ metadata }) }
    const found = this.#children.latest<Deployment>(deployments, ref)
    return found !== null && belongsTo(found, { metadata }) ? found : null
  }

  /** What its pods serve: the annotations of the Deployment tell. */
  running(router: RpcRouter): Running {
    const deployment = this.deployment(router)
    return deployment === null ? nothingRuns : { openPorts: revisionOf(deployment).ports.listen }
  }
}
