// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHmac, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { pino, type Logger } from 'pino'
import { loadBundledSpecs } from '../../proxy/chain/load-catalog.ts'
import { Operator } from '../controllers/operator.ts'
import { KubeClient } from '../kube/client.ts'
import { systemClock, systemRandom } from '../kube/clock.ts'
import { type Cluster, findCluster } from '../kube/cluster.ts'
import { isForbidden, isNotFound } from '../kube/errors.ts'
import { LeaderElector } from '../kube/leader-elector.ts'
import { objectKey, type KubeObject } from '../kube/object.ts'
import { readPage } from '../kube/page.ts'
import { rpcRouters, upstreamProviders } from '../resources/kinds.ts'
import { statusPath } from '../status/fleet-view.ts'
import { metricsPort } from '../translate/object-names.ts'
import { type AdminServer, openAdminServer, type Pages, textPage } from './admin-server.ts'
import {
  type CommandIo,
  exitCodes,
  type FlagValues,
  valueOf,
  imagesOf,
  leaseOf,
  namespacesOf,
} from './command-line.ts'
import { createLogger, combineObservers, logObserver } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'

/** Default namespace of the operator and its lease; see the flag service-account. */
const usualNamespace = 'rpc-router-system'

/**
 * Reconciles until SIGTERM or SIGINT. A second signal ends it immediately.
 * @returns the exit code
 */
export async function run(values: FlagValues, version: string, io: CommandIo): Promise<number> {
  const destination =
    io.stderr === process.stderr ? pino.destination({ dest: 2, sync: true }) : io.stderr
  const logger = createLogger(valueOf(values, 'log-level') ?? 'info', {
    write: (line) => void destination.write(line),
  })
  // Keeps the process alive: without an API server, there may be no connection.
  const alive = setInterval(() => {}, 2 ** 31 - 1)
  const stop = onceStopped(logger)
  try {
    await operate(values, version, io, logger, stop)
  } catch (error) {
    // A request that the stop aborted is not a failure.
    if (!stop.aborted || error !== stop.reason) {
      logger.error({ error }, 'Operator failed')
      return exitCodes.failed
    }
  } finally {
    clearInterval(alive)
  }
  logger.info('Operator stopped')
  return exitCodes.done
}

async function operate(
  values: FlagValues,
  version: string,
  { environment }: CommandIo,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  const metrics = createMetrics()
  const observer = combineObservers(metrics.observer, logObserver(logger))
  const cluster = await findCluster({
    env: environment,
    kubeconfig: valueOf(values, 'kubeconfig') ?? undefined,
    context: valueOf(values, 'context') ?? undefined,
  })
  const perSecond = Number(valueOf(values, 'qps'))
  const client = new KubeClient({
    cluster,
    clock: systemClock,
    userAgent: `rpc-operator/${version}`,
    limit: { perSecond, burst: perSecond * 2 },
    observer,
  })
  try {
    await requireDefinitions(client, namespacesOf(values)?.[0], stop)
    const passwordKey = randomBytes(32)
    const instance = `${hostname()}_${randomBytes(4).toString('hex')}`
    const lease = leaseOf(values, cluster.podNamespace ?? usualNamespace)
    const common = { client, clock: systemClock, random: systemRandom, observer }
    const elector =
      valueOf(values, 'leader-elect') === 'true'
        ? new LeaderElector({ ...common, lease, identity: instance })
        : null
    const operator = new Operator({
      ...common,
      namespaces: namespacesOf(values),
      images: imagesOf(values, version),
      bundled: await loadBundledSpecs(),
      allowLinkLocal: valueOf(values, 'allow-link-local') === 'true',
      workers: Number(valueOf(values, 'workers')),
      maxRollingRouters: Number(valueOf(values, 'max-rolling-routers')),
      instance,
      podNamespace: cluster.podNamespace,
      readPodPage: observes(values, cluster)
        ? (host, signal) =>
            readPage({ host, port: metricsPort, path: statusPath }, systemClock, signal)
        : null,
      generatePassword: (of) => createHmac('sha256', passwordKey).update(of).digest('base64url'),
    })
    metrics.follow(operator)
    const address = valueOf(values, 'listen-address') ?? 'off'
    const admin = await openAdmin(address, metrics, operator, elector, logger)
    logger.info(
      { version, server: cluster.server, instance, ...(elector && { lease: objectKey(lease) }) },
      'Operator started',
    )
    try {
      await work(operator, elector, stop)
    } finally {
      await admin?.close()
    }
  } finally {
    await client.close()
  }
}

/** Whether to observe pods, which are seldom reachable from outside the cluster. */
function observes(values: FlagValues, { podNamespace }: Cluster): boolean {
  return (valueOf(values, 'observe-pods') ?? String(podNamespace !== null)) === 'true'
}

/** Watches, and reconciles while leading, until the signal aborts. */
async function work(
  operator: Operator,
  elector: LeaderElector | null,
  stop: AbortSignal,
): Promise<void> {
  const watching = new AbortController()
  try {
    const watches = operator.watch(watching.signal)
    const led =
      elector === null ? operator.lead(stop) : elector.run(stop, (term) => operator.lead(term))
    // A watch never ends by itself. If one does, that is a bug, and its error is thrown here.
    await Promise.race([led, watches])
  } finally {
    watching.abort()
  }
}

/** Checks that the cluster has our kinds. @throws Error that says what to install */
async function requireDefinitions(
  client: KubeClient,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const selection = { limit: 1, ...(namespace !== undefined && { namespace }) }
  for (const kind of [rpcRouters, upstreamProviders])
    try {
      await client.list<KubeObject>(kind, selection, signal)
    } catch (cause) {
      // The permission may be granted later; until then, the watches report it.
      if (isForbidden(cause)) continue
      if (!isNotFound(cause)) throw cause
      throw new Error(
        `the cluster does not know the kind ${kind.kind}: install the CustomResourceDefinitions first, kubectl apply -f crds/`,
        { cause },
      )
    }
}

function openAdmin(
  address: string,
  metrics: Metrics,
  operator: Operator,
  elector: LeaderElector | null,
  logger: Logger,
): Promise<AdminServer> | null {
  if (address === 'off') return null
  const isHealthy = () => elector?.isHealthy ?? true
  const pages: Pages = {
    '/metrics': async () => ({
      status: 200,
      contentType: metrics.contentType,
      body: await metrics.scrape(),
    }),
    '/livez': () =>
      isHealthy() ? textPage(200, 'ok') : textPage(503, 'the lease could not be renewed'),
    '/readyz': () =>
      operator.hasSynced ? textPage(200, 'ready') : textPage(503, underWay(operator.missing)),
  }
  return openAdminServer(address, pages, (path, error) =>
    logger.error({ path, error }, 'Page could not be rendered'),
  )
}

/** Describes the pending lists. */
function underWay(missing: Operator['missing']): string {
  const where = missing.filter((namespace) => namespace !== null).join(', ')
  return `the first lists${where === '' ? '' : ` of ${where}`} are still running`
}

/** Returns a signal that aborts on SIGTERM or SIGINT. A second one ends the process immediately. */
function onceStopped(logger: Logger): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (stop.signal.aborted) {
        logger.warn({ signal }, 'Operator exited at once: second signal')
        process.exit(exitCodes.failed)
      }
      logger.info({ signal }, 'Operator is stopping')
      stop.abort()
    })
  return stop.signal
}
