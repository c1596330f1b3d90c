// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { V1Container, V1PodSpec, V1Probe } from '@kubernetes/client-node'
import { type Resources, quantityValue } from '../api/quantity.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeObject } from '../kube/object.ts'
import {
  digest,
  objectName,
  type RedisComponent,
  redisPasswordKey,
  redisPort,
} from '../translate/object-names.ts'
import type { OwnRedis } from '../translate/state-store.ts'
import { buildDisruptionBudget, type Images, withPullSecrets } from './build-children.ts'
import { commonPodSpec, containerSecurity, podSecurity, resourcesOf } from './deployment.ts'
import {
  type NetworkPolicy,
  networkPolicies,
  type Plain,
  type Secret,
  secrets,
  type Service,
  services,
  type StatefulSet,
  statefulSets,
} from './kinds.ts'
import { childOf, childLabels, secretHashAnnotation, selectorLabels } from './labels.ts'

/** An evicted choice would be a session that moves: when that Redis is full, new sessions fail. An answer is asked for again. */
const purposes = {
  redis: { evicts: 'noeviction', usualMemory: '128Mi' },
  'redis-cache': { evicts: 'allkeys-lru', usualMemory: '256Mi' },
}
/** The user and the group of the official images. */
const redisUser = 999
const usersDirectory = '/etc/redis'
/** The key of the Secret with the users of Redis. */
const usersKey = 'users.acl'
/** The user of the probes: it may ask whether Redis answers, and nothing else. */
const probeUser = 'probe'

interface Instance extends OwnRedis {
  readonly image: string
  /** Redis reads its users when it starts, and no later. */
  readonly usersHash: string
}

/**
 * A Redis of a router. It comes first, since the config refers to its password.
 */
export function buildRedis(
  router: RpcRouter,
  { component, settings }: OwnRedis,
  password: string,
  { images }: { readonly images: Images },
): readonly KubeObject[] {
  const { image = images.redis } = settings
  const hash = createHash('sha256').update(password).digest('hex')
  const users = `user default on #${hash} ~* &* +@all\nuser ${probeUser} on nopass -@all +ping\n`
  const usersHash = digest([router.metadata.uid, users])
  return [
    buildSecret(router, component, password, users),
    buildService(router, component),
    buildNetworkPolicy(router, component),
    buildStatefulSet(withPullSecrets(router, images), { component, settings, image, usersHash }),
    // A single instance may always be moved; the budget states it explicitly.
    buildDisruptionBudget(router, component, 1),
  ]
}

/** The password, and the file of the users, which holds only the hash of it. */
function buildSecret(
  router: RpcRouter,
  component: RedisComponent,
  password: string,
  users: string,
): Secret {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  const data = { [redisPasswordKey]: encode(password), [usersKey]: encode(users) }
  return { ...childOf(router, secrets, { component }), type: 'Opaque', data }
}

/** The name under which the pods find Redis. */
function buildService(router: RpcRouter, component: RedisComponent): Service {
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
function buildNetworkPolicy(router: RpcRouter, component: RedisComponent): NetworkPolicy {
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

/** A single Redis: while it is away, calls with a session id fail closed, and answers are misses. */
function buildStatefulSet(router: RpcRouter, redis: Instance): StatefulSet {
  const { component, image, settings, usersHash } = redis
  const { storage } = settings
  return {
    ...childOf(router, statefulSets, { component, image }),
    spec: {
      serviceName: objectName(router, component),
      replicas: 1,
      // With OrderedReady, a pod that never became ready would not be replaced by one of a corrected template.
      podManagementPolicy: 'Parallel',
      revisionHistoryLimit: 2,
      selector: { matchLabels: { ...selectorLabels(router, component) } },
      template: {
        metadata: {
          labels: { ...childLabels(router, component, image) },
          annotations: { [secretHashAnnotation]: usersHash },
        },
        spec: podSpec(router, redis),
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

function podSpec(router: RpcRouter, redis: Instance): V1PodSpec {
  const secretName = objectName(router, redis.component)
  const users = { secretName, items: [{ key: usersKey, path: usersKey }] }
  return {
    ...commonPodSpec(router.spec.pod),
    securityContext: {
      ...podSecurity,
      runAsUser: redisUser,
      runAsGroup: redisUser,
      fsGroup: redisUser,
    },
    terminationGracePeriodSeconds: 30,
    containers: [container(redis)],
    volumes: [
      { name: 'users', secret: users },
      ...(redis.settings.storage ? [] : [{ name: 'data', emptyDir: {} }]),
    ],
  }
}

function container({ component, image, settings }: Instance): V1Container {
  const { usualMemory: memory, evicts } = purposes[component]
  const usual: Resources = { requests: { cpu: '50m', memory }, limits: { memory } }
  const { resources = usual, storage } = settings
  const limit = quantityValue(resources.limits?.['memory'])
  return {
    name: 'redis',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['redis-server'],
    args: [
      ...['--port', String(redisPort)],
      ...['--dir', '/data'],
      ...['--aclfile', `${usersDirectory}/${usersKey}`],
      ...['--save', ''],
      ...['--appendonly', storage === undefined ? 'no' : 'yes'],
      ...(limit === null ? [] : ['--maxmemory', String(Math.floor(limit * 0.75))]),
      ...['--maxmemory-policy', evicts],
    ],
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

const ping: Plain<V1Probe> = {
  // An error counts as one with -e: also "loading", while the file is read.
  exec: {
    command: ['redis-cli', '-e', '--no-auth-warning', '--user', probeUser, '--pass', '-', 'ping'],
  },
  timeoutSeconds: 3,
}
