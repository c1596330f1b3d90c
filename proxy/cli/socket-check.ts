// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../chain/types.ts'
import type { ParsedConfig } from '../config/parse.ts'
import type { Problem } from '../config/problem.ts'
import { subscriptionFormOf } from '../subscription/forms/form-of.ts'
import type { EndpointConfig, RouterConfig, UpstreamConfig } from '../config/types.ts'

const hint =
  'Add a ws or wss URL to one of them, or start with --skip-websocket-verification (in the file: skip-websocket-verification: true).'

/** Listeners whose clients may subscribe, and whose upstreams have no WebSocket to hear it by. */
export function checkSockets(
  config: RouterConfig,
  catalog: ChainCatalog,
  locate: ParsedConfig['locate'],
): readonly Problem[] {
  if (config.skipWebsocketVerification) return []
  const told = new Set<string>()
  return config.endpoints.flatMap((endpoint, index) => {
    const chain = catalog.find(endpoint.chainId)
    const iface = chain?.interfaces.get(endpoint.apiInterface)
    if (!chain || !iface || !subscriptionFormOf(chain, iface)) return []
    const served = `${chain.id} ${endpoint.apiInterface}`
    const upstreams = upstreamsOf(endpoint, config, catalog)
    if (told.has(served) || upstreams.some(hasSocket)) return []
    told.add(served)
    const path = `endpoints[${index}]`
    const names = upstreams.map(({ name }) => name).join(', ')
    const message = `${served} has subscriptions, and none of its upstreams (${names}) has a WebSocket URL`
    const { line = null, column = null } = locate(path) ?? {}
    return [{ severity: 'error' as const, path, line, column, message, hint }]
  })
}

function upstreamsOf(
  { chainId, apiInterface }: EndpointConfig,
  { upstreams }: RouterConfig,
  catalog: ChainCatalog,
): readonly UpstreamConfig[] {
  const chain = catalog.find(chainId)
  return upstreams.filter(
    (each) => each.apiInterface === apiInterface && catalog.find(each.chainId) === chain,
  )
}

function hasSocket({ nodeUrls }: UpstreamConfig): boolean {
  return nodeUrls.some(({ scheme }) => scheme === 'ws' || scheme === 'wss')
}
