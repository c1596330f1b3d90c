// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V1Container, V1PodSpec, V1Probe } from '@kubernetes/client-node'
import { type Resources, quantityValue } from '../../api/quantity.ts'
import type { RpcRouter } from '../../api/rpc-router.ts'
import type { ManagedRedis } from '../../api/stores.ts'
import { redisObjectName, redisPort } from '../../translate/object-names.ts'
import { childOf } from '../child.ts'
import { type Plain, type StatefulSet, statefulSets } from '../kinds.ts'
import { childLabels, selectorLabels } from '../labels.ts'
import { containerSecurity, podSecurity } from '../pod-security.ts'
import { resourcesOf } from '../router-container.ts'
import { schedulingOf } from '../scheduling.ts'
import { probeUser, redisUsersKey } from './redis-secret.ts'

const usualResources: Resources = {
  requests: { cpu: '50m', memory: '128Mi' },
  limits: { memory: '128Mi' },
}

/** The user and the group of the official images. */
const redisUser = 999

const usersDirectory = '/etc/redis'

/** A single Redis, stated plainly as such: while it is away, calls with a session id fail closed. */
export function buildRedisStatefulSet(
  router: RpcRouter,
  settings: ManagedRedis,
  usualImage: string,
): StatefulSet {
  const image = settings.image ?? usualImage
  const name = redisObjectName(router)
  const selector = selectorLabels(router, 'redis')
  const { storage } = settings
  return {
    ...childOf(router, statefulSets, { name, component: 'redis', image }),
    spec: {
      serviceName: name,
      replicas: 1,
      revisionHistoryLimit: 2,
      selector: { matchLabels: { ...selector } },
      template: {
        metadata: { labels: { ...childLabels(router, 'redis', image) } },
        spec: podSpec(router, settings, image),
      },
      ...(storage && {
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              ...(storage.storageClassName && { storageClassName: storage.storageClassName }),
              resources: { requests: { storage: String(storage.size) } },
            },
          },
        ],
      }),
    },
  }
}

function podSpec(router: RpcRouter, settings: ManagedRedis, image: string): V1PodSpec {
  const { pod } = router.spec
  const { nodeSelector, tolerations, priorityClassName, imagePullSecrets } = pod
  const placed = { nodeSelector, tolerations, priorityClassName }
  const { topologySpreadConstraints: _, ...scheduling } = schedulingOf(placed, {})
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      ...podSecurity,
      runAsUser: redisUser,
      runAsGroup: redisUser,
      fsGroup: redisUser,
    },
    terminationGracePeriodSeconds: 30,
    ...(imagePullSecrets && { imagePullSecrets: [...imagePullSecrets] }),
    ...scheduling,
    containers: [container(settings, image)],
    volumes: [
      {
        name: 'users',
        secret: {
          secretName: redisObjectName(router),
          items: [{ key: redisUsersKey, path: redisUsersKey }],
        },
      },
      ...(settings.storage ? [] : [{ name: 'data', emptyDir: {} }]),
    ],
  }
}

function container(settings: ManagedRedis, image: string): V1Container {
  const resources = settings.resources ?? usualResources
  return {
    name: 'redis',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['redis-server'],
    args: redisArguments(settings, resources),
    ports: [{ name: 'redis', containerPort: redisPort, protocol: 'TCP' }],
    resources: resourcesOf(resources),
    startupProbe: { ...ping, periodSeconds: 2, failureThreshold: 60 },
    readinessProbe: { ...ping, periodSeconds: 5, failureThreshold: 2 },
    livenessProbe: { ...ping, periodSeconds: 10, failureThreshold: 6 },
    securityContext: containerSecurity,
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'users', mountPath: usersDirectory, readOnly: true },
    ],
  }
}

/** Sessions outlive answers: what is pushed out first is what was not read for long. */
function redisArguments({ storage }: ManagedRedis, { limits }: Resources): string[] {
  const limit = quantityValue(limits?.['memory'])
  return [
    ...['--port', String(redisPort)],
    ...['--dir', '/data'],
    ...['--aclfile', `${usersDirectory}/${redisUsersKey}`],
    ...['--save', ''],
    ...['--appendonly', storage === undefined ? 'no' : 'yes'],
    ...(limit === null ? [] : ['--maxmemory', String(Math.floor(limit * 0.75))]),
    ...['--maxmemory-policy', 'volatile-lru'],
  ]
}

const ping: Plain<V1Probe> = {
  // An error counts as one with -e: also "loading", while the file is read.
  exec: {
    command: ['redis-cli', '-e', '--no-auth-warning', '--user', probeUser, '--pass', '-', 'ping'],
  },
  timeoutSeconds: 3,
}
