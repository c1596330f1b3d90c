// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V1Container, V1EnvVar, V1VolumeMount } from '@kubernetes/client-node'
import type { Resources } from '../api/quantity.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import {
  configDirectory,
  configFile,
  metricsPort,
  secretDirectory,
} from '../translate/object-names.ts'
import type { Variable } from '../translate/reference-data.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { listenerNames } from './listener-names.ts'
import { containerSecurity } from './pod-security.ts'
import { livenessProbe, readinessProbe, startupProbe } from './probes.ts'

const usualCpu = '250m'
const usualMemory = '512Mi'

/** With the usual amount of what is neither requested nor limited. No CPU limit: it would only add latency. */
function withUsual({ requests = {}, limits = {} }: Resources = {}): Resources {
  const isSet = (name: string) => name in requests || name in limits
  const cpu = isSet('cpu') ? {} : { cpu: usualCpu }
  const memory = isSet('memory') ? {} : { memory: usualMemory }
  return { requests: { ...cpu, ...memory, ...requests }, limits: { ...memory, ...limits } }
}

/** The one container of a router's pod. */
export function routerContainer(
  { spec }: RpcRouter,
  config: RenderedConfig,
  image: string,
  chainIdOf: (chainId: string) => string,
): V1Container {
  const { imagePullPolicy, resources, shutdown } = spec.pod
  const listeners = listenerNames(spec.endpoints, chainIdOf)
  const ports = [
    ...spec.endpoints.map(({ port }, index) => ({
      name: listeners[index] ?? '',
      containerPort: port,
    })),
    { name: 'metrics', containerPort: metricsPort },
  ]
  return {
    name: 'router',
    image,
    imagePullPolicy,
    args: [`${configDirectory}/${configFile}`],
    ...(config.variables.length > 0 && { env: config.variables.map(envVar) }),
    ports: ports.map((port) => ({ ...port, protocol: 'TCP' })),
    resources: resourcesOf(withUsual(resources)),
    startupProbe,
    readinessProbe,
    livenessProbe,
    // Goes on as before until everyone who sends calls here has learnt that it ends.
    ...(shutdown.preStopSeconds > 0 && {
      lifecycle: { preStop: { sleep: { seconds: shutdown.preStopSeconds } } },
    }),
    // What a pod that does not start says stands in its status.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: containerSecurity,
    volumeMounts: volumeMounts(config),
  }
}

function envVar({ name, secret }: Variable): V1EnvVar {
  return { name, valueFrom: { secretKeyRef: { name: secret.name, key: secret.key } } }
}

function volumeMounts({ files }: RenderedConfig): V1VolumeMount[] {
  return [
    { name: 'config', mountPath: configDirectory, readOnly: true },
    ...(files.length > 0 ? [{ name: 'secrets', mountPath: secretDirectory, readOnly: true }] : []),
    { name: 'tmp', mountPath: '/tmp' },
  ]
}

/** Quantities as texts, which is how the API gives them back. */
export function resourcesOf({
  requests,
  limits,
}: Resources): NonNullable<V1Container['resources']> {
  const texts = (amounts: NonNullable<Resources['limits']>) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
  return {
    ...(requests && { requests: texts(requests) }),
    ...(limits && { limits: texts(limits) }),
  }
}
