// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { defaultPort } from '../../proxy/config/settings.ts'
import { networkPolicy, proxyFields, serviceSettings } from './exposure.ts'
import { described } from './described.ts'
import { at, boolean, integer, list, object, oneOf, text, kindSchema } from './field.ts'
import { rpcRouterNames } from './group.ts'
import { labelSelector } from './labels.ts'
import { dataKey, httpUrl, objectName, apiInterface, chainId, methodLists } from './names.ts'
import { autoscaling, pod } from './pod.ts'
import { byteSize } from './quantity.ts'
import {
  crossValidation,
  logs,
  routerRelay,
  subscriptions,
  upstreamSettings,
  webSocket,
  endpointRelay,
} from './relay.ts'
import { rpcRouterStatus } from './status.ts'
import { cache, sharedState } from './stores.ts'
import { logging, monitoring, tracing } from './telemetry.ts'

const endpoint = object('A listener.', {
  name: text(
    'Name of the endpoint, and of its port in the Service. Lower-case letters, digits and dashes.',
    {
      example: 'eth1',
      max: 15,
      pattern: /^[a-z]([a-z0-9]|-[a-z0-9])*$/,
      must: 'name must be lower-case letters, digits and single dashes, and begin with a letter',
      rules: {
        "name must not be metrics, the name of the router's own port": "self != 'metrics'",
      },
    },
  ),
  port: integer(
    'Port of the listener in the pods and in the Service: 3360 to 3367, or any from 1024 with spec.portRange Custom.',
    [1024, 65_535],
  ).default(defaultPort),
  chainId: chainId(described('endpoints.chain-id'), 'ETH1'),
  apiInterface: apiInterface(described('endpoints.api-interface'), 'jsonrpc'),
  ...methodLists('endpoints'),
  relay: endpointRelay.optional(),
})

/** The port of an endpoint in a rule. */
const portOf = (endpoint: string) => `${endpoint}.?port.orValue(${defaultPort})`

const endpoints = list(described('endpoints'), endpoint, {
  min: 1,
  max: 64,
  kind: ['name'],
  rules: {
    'endpoints must have different ports': `self.all(a, self.exists_one(b, ${portOf('a')} == ${portOf('b')}))`,
  },
})

export type Endpoint = z.output<typeof endpoint>

const configMap = object('A ConfigMap of the same namespace; each key has the spec of one chain.', {
  name: objectName('Name of the ConfigMap.', 'our-chains'),
  keys: list('Keys with specs. Unset: all.', dataKey('A key of its data.', 'ourchain.yml'), {
    min: 1,
    max: 64,
    kind: 'set',
  }).optional(),
})

const specSource = object(
  'Source of chain specs.',
  {
    type: oneOf(
      'ConfigMap: your own specs. Url: an archive of a repository. Bundled: no effect, since bundled specs are always loaded.',
      ['Bundled', 'ConfigMap', 'Url'],
      'ConfigMap',
    ),
    configMap: configMap.optional(),
    url: httpUrl(
      'URL of an archive of a repository, read when a pod starts.',
      'https://git.example.com/chains/specs/archive/v1.2.0.tar.gz',
    ).optional(),
  },
  {
    'configMap must be set with type ConfigMap, and only then':
      "(self.type == 'ConfigMap') == has(self.configMap)",
    'url must be set with type Url, and only then': "(self.type == 'Url') == has(self.url)",
  },
)

const specSources = list(
  'Your chain specs, in addition to the bundled ones. A later spec replaces an earlier or bundled one with the same id. Unset: only bundled specs.',
  specSource,
  {
    example: [{ type: 'ConfigMap', configMap: { name: 'our-chains' } }],
    min: 1,
    max: 16,
    kind: 'atomic',
  },
)

export type SpecSource = z.output<typeof specSource>

const spec = object(
  'Desired state of the fleet.',
  {
    endpoints,
    portRange: oneOf(
      'Standard: endpoints use the ports 3360 to 3367. Custom: any port from 1024.',
      ['Standard', 'Custom'],
    ).default('Standard'),
    bindHost: oneOf(
      'Bind address of listeners. :: accepts IPv6, and IPv4 where the node allows both.',
      ['0.0.0.0', '::'],
    ).default('0.0.0.0'),
    providerSelector: labelSelector(
      'Labels of the UpstreamProviders to use, in the same namespace. Empty selects all; unset selects none.',
      { matchLabels: { 'rpc.example.com/pool': 'mainnet' } },
    ).optional(),
    relay: routerRelay.prefault({}),
    upstreams: upstreamSettings.prefault({}),
    crossValidation: crossValidation.optional(),
    logs: logs.optional(),
    cache: cache.optional(),
    sharedState: sharedState.default({ mode: 'None' }),
    specSources: specSources.optional(),
    skipWebsocketVerification: boolean(
      'Whether to serve chains with subscriptions if no upstream has a WebSocket URL; subscriptions then fail. Unset: true if needed, and the condition Accepted names what is not served. False: such a router is not accepted.',
      false,
    ).optional(),
    webSocket: webSocket.optional(),
    subscriptions: subscriptions.optional(),
    maxRequestSize: byteSize(described('max-request-bytes'), '1Gi').default('10Mi'),
    ...proxyFields,
    replicas: integer(
      'Number of pods. Unset: autoscaling decides; without autoscaling, 2 at first and then the current number. Removing replicas or autoscaling does not change the count. kubectl scale sets it.',
      [0, 1000],
      3,
    ).optional(),
    autoscaling: autoscaling.optional(),
    pod: pod.prefault({}),
    service: serviceSettings.prefault({}),
    networkPolicy: networkPolicy.prefault({}),
    monitoring: monitoring.prefault({}),
    tracing: tracing.optional(),
    logging: logging.prefault({}),
  },
  {
    'replicas must not be set together with autoscaling, which owns the count': at(
      '.replicas',
      '!has(self.autoscaling) || !has(self.replicas)',
    ),
    'ports must be 3360 to 3367, unless portRange is Custom': at(
      '.endpoints',
      `self.portRange == 'Custom' || self.endpoints.all(e, ${portOf('e')} >= 3360 && ${portOf('e')} <= 3367)`,
    ),
    'cacheService must be the same in cache and in sharedState': at(
      '.sharedState',
      '!self.?cache.cacheService.hasValue() || !self.?sharedState.cacheService.hasValue() || self.cache.cacheService.address == self.sharedState.cacheService.address',
    ),
    'ports must not be 7779, where metrics are served': at(
      '.endpoints',
      `self.endpoints.all(e, ${portOf('e')} != 7779)`,
    ),
  },
)

/** A fleet of routers behind one Service. */
export const rpcRouterSchema = kindSchema(
  rpcRouterNames.kind,
  'A fleet of routers behind one Service: one URL per chain and interface for all your node providers.',
  spec,
  rpcRouterStatus,
  {
    'metadata.name must be at most 40 lower-case letters, digits and dashes, and begin with a letter: Services are named after it':
      "self.metadata.name.size() <= 40 && self.metadata.name.matches(r'^[a-z]([-a-z0-9]*[a-z0-9])?$')",
  },
)

/** An RpcRouter as the operator reads it, with defaults. */
export type RpcRouter = z.output<typeof rpcRouterSchema>
export type RpcRouterSpec = RpcRouter['spec']
