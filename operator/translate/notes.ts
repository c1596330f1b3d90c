// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ListenerWithoutSocket, socketText } from '../../proxy/config/socket-check.ts'
import { quantityValue } from '../api/quantity.ts'
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { hidesPort } from './egress-ports.ts'
import type { UpstreamPlan } from './router-document.ts'

/** What a router that is accepted does, and its owner may not expect. */
export function notesOfRouter(
  spec: RpcRouterSpec,
  upstreams: readonly UpstreamPlan[],
  withoutSocket: readonly ListenerWithoutSocket[],
): readonly string[] {
  const notes: string[] = []
  if (spec.skipWebsocketVerification === undefined)
    for (const listener of withoutSocket.filter(({ isCertain }) => isCertain))
      notes.push(`Subscriptions of ${listener.serves} are not served: ${socketText(listener)}`)
  const hiding = upstreams.filter(hidesPort).map(({ provider }) => provider)
  if (spec.networkPolicy.enabled && hiding.length > 0)
    notes.push(
      `The NetworkPolicy lets the pods connect to any address and port, since a URL of ${hiding.join(', ')} hides its port in a Secret: write scheme, host and port into the url itself`,
    )
  const unscaled = resourcesWithoutRequest(spec)
  if (unscaled.length > 0)
    notes.push(
      `The HorizontalPodAutoscaler cannot scale by ${unscaled.join(' and ')}: pod.resources.requests must be more than 0 there`,
    )
  return notes
}

/** What autoscaling goes by, and pods request none of. */
function resourcesWithoutRequest({ autoscaling, pod }: RpcRouterSpec): readonly string[] {
  if (autoscaling === undefined) return []
  const { targetCpuUtilizationPercent: cpu, targetMemoryUtilizationPercent: memory } = autoscaling
  const { requests = {}, limits = {} } = pod.resources ?? {}
  const isNone = (name: string) => quantityValue(requests[name] ?? limits[name]) === 0
  return [
    ...(isNone('cpu') && (cpu !== undefined || memory === undefined) ? ['cpu'] : []),
    ...(isNone('memory') && memory !== undefined ? ['memory'] : []),
  ]
}

const userInfo = /^[a-z]+:\/\/[^/?#@]*:(?<secret>[^/?#@]+)@/i
const keyInQuery = /[?&][^=&#]*(?:key|token|secret|password|auth)[^=&#]*=(?<secret>[^&#]+)/i

/** What a provider that is good does, and its owner may not expect. */
export function notesOfProvider({ spec }: UpstreamProvider): readonly string[] {
  return spec.nodeUrls.flatMap(({ url }, index) => {
    const secrets = [userInfo, keyInQuery].map((form) => form.exec(url)?.groups?.['secret'])
    const isLiteral = secrets.some((secret) => secret !== undefined && !secret.includes('${'))
    return isLiteral
      ? [
          `spec.nodeUrls[${index}].url: a password or key stands in the URL as it is, and so in this object and in the ConfigMap of each router: put it into a Secret, and \${NAME} of variables in its place`,
        ]
      : []
  })
}
