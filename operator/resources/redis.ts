// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { V1Container, V1PodSpec, V1Probe } from '@kubernetes/client-node'
import { type Resources, quantityValue } from '../api/quantity.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { ManagedRedis } from '../api/stores.ts'
import type { KubeObject } from '../kube/object.ts'
import { redisObjectName, redisPasswordKey, redisPort } from '../translate/object-names.ts'
import type { StateStore } from '../translate/state-store.ts'
import { containerSecurity, placementOf, podSecurity, resourcesOf } from './deployment.ts'
import {
  type NetworkPolicy,
  networkPolicies,
  type Plain,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  type Secret,
  secrets,
  type Service,
  services,
  type StatefulSet,
  statefulSets,
} from './kinds.ts'
import { childOf, childLabels, selectorLabels } from './labels.ts'

const component = 'redis'
const usualResources: Resources = {
  requests: { cpu: '50m', memory: '128Mi' },
  limits: { memory: '128Mi' },
}
/** The user and the group of the official images. */
const redisUser = 999
const usersDirectory = '/etc/redis'
/** The key of the Secret with the users of Redis. */
const usersKey = 'users.acl'
/** The user of the probes: it may ask whether Redis answers, and nothing else. */
const probeUser = 'probe'

/** The Redis of a router, if the operator runs it. It comes first, since the config refers to its password. */
export function buildRedis(
  router: RpcRouter,
  store: StateStore,
  password: string,
  { images }: { readonly images: { readonly redis: string } },
): readonly KubeObject[] {
  if (store.kind !== 'managed') return []
  return [
    buildSecret(router, password),
    buildService(router),
    buildNetworkPolicy(router),
    buildStatefulSet(router, store.settings, images.redis),
    buildDisruptionBudget(router),
  ]
}

/** The password, and the file of the users, which holds only the hash of it. */
function buildSecret(router: RpcRouter, password: string): Secret {
  const hash = createHash('sha256').update(password).digest('hex')
  const users = `user default on #${hash} ~* &* +@all\nuser ${probeUser} on nopass -@all +ping\n`
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return {
    ...childOf(router, secrets, { component }),
    type: 'Opaque',
    data: { [redisPasswordKey]: encode(password), [usersKey]: encode(users) },
  }
}

/** The name under which the pods find Redis. */
function buildService(router: RpcRouter): Service {
  return {
    ...childOf(router, services, { component }),
    spec: {
      type: 'ClusterIP',
      clusterIP: 'None',
      selector: { ...selectorLabels(router, component) },
      ports: [{ name: 'redis', port: redisPort, targetPort: 'redis', protocol: 'TCP' }],
    },
  }
}

/** Only the pods of its router reach Redis, and Redis connects to nothing. */
function buildNetworkPolicy(router: RpcRouter): NetworkPolicy {
  const clients = { podSelector: { matchLabels: { ...selectorLabels(router, 'router') } } }
  return {
    ...childOf(router, networkPolicies, { component }),
    spec: {
      podSelector: { matchLabels: { ...selectorLabels(router, component) } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [clients], ports: [{ protocol: 'TCP', port: redisPort }] }],
      egress: [],
    },
  }
}

/** A single instance may always be moved; the budget states it explicitly. */
function buildDisruptionBudget(router: RpcRouter): PodDisruptionBudget {
  return {
    ...childOf(router, podDisruptionBudgets, { component }),
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { ...selectorLabels(router, component) } },
    },
  }
}

/** A single Redis: while it is away, calls with a session id fail closed. */
function buildStatefulSet(
  router: RpcRouter,
  settings: ManagedRedis,
  usualImage: string,
): StatefulSet {
  const { image = usualImage, storage } = settings
  return {
    ...childOf(router, statefulSets, { component, image }),
    spec: {
      serviceName: redisObjectName(router),
      replicas: 1,
      revisionHistoryLimit: 2,
      selector: { matchLabels: { ...selectorLabels(router, component) } },
      template: {
        metadata: { labels: { ...childLabels(router, component, image) } },
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
  const users = { secretName: redisObjectName(router), items: [{ key: usersKey, path: usersKey }] }
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
    ...(pod.imagePullSecrets && { imagePullSecrets: [...pod.imagePullSecrets] }),
    ...placementOf(pod),
    containers: [container(settings, image)],
    volumes: [
      { name: 'users', secret: users },
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

/** No eviction: an evicted choice would be a session that moves. When it is full, new sessions fail. */
function redisArguments({ storage }: ManagedRedis, { limits }: Resources): string[] {
  const limit = quantityValue(limits?.['memory'])
  return [
    ...['--port', String(redisPort)],
    ...['--dir', '/data'],
    ...['--aclfile', `${usersDirectory}/${usersKey}`],
    ...['--save', ''],
    ...['--appendonly', storage === undefined ? 'no' : 'yes'],
    ...(limit === null ? [] : ['--maxmemory', String(Math.floor(limit * 0.75))]),
    ...['--maxmemory-policy', 'noeviction'],
  ]
}

const ping: Plain<V1Probe> = {
  // An error counts as one with -e: also "loading", while the file is read.
  exec: {
    command: ['redis-cli', '-e', '--no-auth-warning', '--user', probeUser, '--pass', '-', 'ping'],
  },
  timeoutSeconds: 3,
}
