// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import { combineObservers } from '../../../operator/cli/log.ts'
import { createMetrics, type Metrics } from '../../../operator/cli/metrics.ts'
import type { Operator } from '../../../operator/controllers/operator.ts'
import type { KubeClient } from '../../../operator/kube/client.ts'
import type { KubeObserver } from '../../../operator/kube/observer.ts'
import { rbacManifests } from '../../../operator/rbac/rules.ts'
import { clientOf, type Access } from '../access.ts'
import { eventually } from '../../processes/eventually.ts'
import { createOperator, type OperatorSettings } from '../in-process-operator.ts'
import { accessFor } from '../test-cluster.ts'

/** A request of the operator with the outcome at the API server. */
export interface ReceivedRequest {
  readonly resource: string
  readonly verb: string
  readonly outcome: number | string
}

/** An operator in this process, with a service account that has only the operator's RBAC rules. */
export interface RunningOperator extends AsyncDisposable {
  readonly operator: Operator
  readonly metrics: Metrics
  /** Every request, including reads and watches. */
  readonly requests: readonly ReceivedRequest[]
  readonly failures: readonly string[]
  /** @throws Error if the RBAC rules denied a request */
  stop(): Promise<void>
}

export interface OperatorPlace {
  /** Client of the administrator, which grants the rules. */
  readonly client: KubeClient
  readonly access: Access
  readonly folder: string
  /** Namespaces of the operator; null: all. */
  readonly namespaces: readonly string[] | null
  readonly signal: AbortSignal
  /** Replaces `access` for the operator, for example by a proxy. */
  readonly through?: (access: Access) => Access
}

/** Grants the output of `rpc-operator rbac` to a new service account. Returns its credentials. */
export async function grantRules(place: OperatorPlace): Promise<Access> {
  const { client, access, folder, namespaces, signal } = place
  const account = { namespace: 'default', name: `operator-${randomBytes(4).toString('hex')}` }
  const lease = { namespace: account.namespace, name: account.name }
  for (const object of rbacManifests({ namespaces, serviceAccount: account, lease })) {
    const { kind } = object
    const namespaced = !kind.startsWith('Cluster')
    const plural = `${kind.toLowerCase()}s`
    const group = 'rbac.authorization.k8s.io'
    await client.create({ group, version: 'v1', kind, plural, namespaced }, object, signal)
  }
  const user = `system:serviceaccount:${account.namespace}:${account.name}`
  return accessFor(folder, access, user)
}

export interface RunOptions extends Pick<
  OperatorSettings,
  'readPodPage' | 'clock' | 'maxRollingRouters'
> {
  readonly as?: Access
  readonly observer?: KubeObserver
  /** Plurals of kinds that a quota refuses with the message of missing RBAC rules. */
  readonly quotaOn?: readonly string[]
}

export async function runOperator(
  place: OperatorPlace,
  options: RunOptions = {},
): Promise<RunningOperator> {
  const granted = options.as ?? (await grantRules(place))
  const access = place.through?.(granted) ?? granted
  const requests: ReceivedRequest[] = []
  const failures: string[] = []
  const metrics = createMetrics()
  const observer = combineObservers(metrics.observer, options.observer ?? {}, {
    requested: (resource, verb, outcome) => requests.push({ resource, verb, outcome }),
    reconciled({ result, error, key }) {
      if (result === 'error' || result === 'timeout') failures.push(`${key}: ${String(error)}`)
    },
  })
  const client = clientOf(access, { observer })
  const { as: _, quotaOn: __, ...settings } = options
  const { namespaces } = place
  const operator = createOperator(client, { ...settings, namespaces, observer, workers: 8 })
  metrics.follow(operator)
  const end = new AbortController()
  const stopWatching = new AbortController()
  const work = Promise.all([operator.watch(stopWatching.signal), operator.lead(end.signal)])
  const stop = async (): Promise<void> => {
    end.abort()
    stopWatching.abort()
    await work
    await client.close()
    const { quotaOn = [] } = options
    const forbidden = requests.filter(
      ({ outcome, resource }) => outcome === 403 && !quotaOn.includes(resource),
    )
    if (forbidden.length > 0) throw new Error(`the rules do not allow ${JSON.stringify(forbidden)}`)
  }
  return { operator, metrics, requests, failures, stop, [Symbol.asyncDispose]: stop }
}

/** Resolves after two seconds in which the operator does nothing but requeue for missing pods. */
export async function quiet({ operator, requests }: RunningOperator): Promise<void> {
  const queues = [operator.routers.queue, operator.providers.queue]
  let since = performance.now()
  let count = 0
  await eventually(() => {
    const written = writes(requests).length
    const isIdle = queues.every(({ depth, active }) => depth + active === 0) && written === count
    if (!isIdle) since = performance.now()
    count = written
    return performance.now() - since > 2_000
  }, 30_000)
}

export function writes(requests: readonly ReceivedRequest[]): readonly ReceivedRequest[] {
  const verbs = ['create', 'update', 'patch', 'delete']
  return requests.filter(({ verb }) => verbs.includes(verb))
}
