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

/** Redis evicts answers. It never evicts sessions, which would then move; new ones fail instead. */
const purposes = {
  redis: { evicts: 'noeviction', usualMemory: '128Mi' },
  'redis-cache': { evicts: 'allkeys-lru', usualMemory: '256Mi' },
}
/** User and group id in the official images. */
const redisUser = 999
const usersDirectory = '/etc/redis'
/** Key of the Secret for the ACL file. */
const usersKey = 'users.acl'
/** The probes' user, which may only send PING. */
const probeUser = 'probe'

interface Instance extends OwnRedis {
  readonly image: string
  /** Part of the pod template, because Redis reads its users only at startup. */
  readonly usersHash: string
}

/** Builds a router's Redis. It is applied before the config, which refers to its password. */
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
    // A single instance may always be evicted; the budget makes that explicit.
    buildDisruptionBudget(router, component, 1),
  ]
}

/** Builds the Secret with the password, and the ACL file with only a hash of it. */
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

/** Builds the headless Service through which the pods find Redis. */
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

/** Admits only the pods of the router. Redis itself may not connect to anything. */
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

/** Builds a single Redis. While it is down, calls with a session id fail. */
function buildStatefulSet(router: RpcRouter, redis: Instance): StatefulSet {
  const { component, image, settings, usersHash } = redis
  const { storage } = settings
  return {
    ...childOf(router, statefulSets, { component, image }),
    spec: {
      serviceName: objectName(router, component),
      replicas: 1,
      // With OrderedReady, a corrected template would not replace a pod that never became ready.
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
  // With -e, an error reply fails the probe, including LOADING at startup.
  exec: {
    command: ['redis-cli', '-e', '--no-auth-warning', '--user', probeUser, '--pass', '-', 'ping'],
  },
  timeoutSeconds: 3,
}
