// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'

/** What a first config is made from. */
interface FirstConfig {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  /** As the user wrote them. */
  readonly urls: readonly string[]
  /** Sources of chain specs; empty: the bundled ones. */
  readonly specs: readonly string[]
  /** What the interface knows of. */
  readonly addons: readonly string[]
  readonly hasSubscriptions: boolean
}

/** The text of a config with its explanations. */
export function firstConfig(wanted: FirstConfig): string {
  const { chainId, apiInterface, urls, specs, addons, hasSubscriptions } = wanted
  const served = `    chain-id: ${chainId}\n    api-interface: ${apiInterface}\n`
  const upstreams = upstreamsOf(urls).map(([name, own]) => {
    const lines = own.map((url) => `      - url: ${JSON.stringify(url)}\n`)
    return `  - name: ${name}\n${served}    node-urls:\n${lines.join('')}`
  })
  const ofAddons = `        # What a URL serves beyond the standard methods; router doctor says which.
        # addons: [${addons.join(', ')}]
`
  const ofSockets = `# There is no WebSocket URL above: a client that subscribes gets an error.
skip-websocket-verification: true
`
  const ofSpecs = ['use-static-spec:', ...specs.map((each) => `  - ${JSON.stringify(each)}`), '']
  return `# Check it: router validate FILE. Ask its nodes what they serve: router doctor FILE. Start: router FILE
# Keys: write \${NAME} in their place, and NAME=value into a file: router FILE --env-file keys.env

# Where applications find the chain.
endpoints:
  - network-address: 127.0.0.1:3360
${served}
# Its nodes, each with the URLs by which it is reached. Changes are taken over while the router runs.
direct-rpc:
${upstreams.join('')}${addons.length > 0 ? ofAddons : ''}
# Metrics and health.
metrics-listen-address: 127.0.0.1:7779
${hasSubscriptions && !urls.some(isSocket) ? ofSockets : ''}${specs.length > 0 ? ofSpecs.join('\n') : ''}`
}

/** Names of upstreams with their URLs: one each, but a WebSocket URL joins one of the same host that has none. */
function upstreamsOf(urls: readonly string[]): readonly [name: string, urls: string[]][] {
  const upstreams: [name: string, urls: string[]][] = []
  for (const url of [...urls.filter((each) => !isSocket(each)), ...urls.filter(isSocket)]) {
    const host = hostOf(url)
    const own = upstreams.find(([, each]) => each.length === 1 && hostOf(each[0] ?? '') === host)
    if (isSocket(url) && own) own[1].push(url)
    else upstreams.push([`${nameOf(host)}-${upstreams.length + 1}`, [url]])
  }
  return upstreams
}

function isSocket(url: string): boolean {
  return /^wss?:/i.test(url)
}

function hostOf(url: string): string {
  return URL.parse(url.replace(/^(?:grpc|ws)/i, 'http'))?.hostname ?? ''
}

/** `example` of `eth.example.com`, `node` of an address. */
function nameOf(host: string): string {
  return /([a-z0-9-]+)\.[a-z][a-z0-9-]*$/.exec(host)?.[1] ?? 'node'
}
