// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { upstreamUrl } from '../../proxy/config/fields/upstream-url.ts'
import { parseConfig } from '../../proxy/config/parse.ts'
import type { Problem } from '../../proxy/config/problem.ts'
import {
  type ListenerWithoutSocket,
  listenersWithoutSocket,
} from '../../proxy/config/checks/socket-check.ts'
import { unsetVariableHint } from '../../proxy/config/yaml/read-yaml.ts'
import { renderPlaceholders } from '../../proxy/config/yaml/scalar.ts'
import {
  knownChains,
  validateConfig as validateRouterConfig,
} from '../../proxy/validation/validate-config.ts'
import type { Endpoint } from '../api/rpc-router.ts'
import { configDirectory, secretDirectory } from './object-names.ts'
import {
  type RequiredRefs,
  type ReferenceData,
  environmentOf,
  standIn,
  valueOf,
} from './reference-data.ts'
import {
  type Listener,
  type RouterDocument,
  type RouterPlan,
  type UpstreamPlan,
  routerDocument,
} from './router-document.ts'
import { settingSources } from './router-settings.ts'
import type { StateChoice } from './state-store.ts'
import type { ConfigRefusal, RouterRefusal } from './violations.ts'

/** Names that differ between config and spec by more than dashes. */
const renames: readonly (readonly [RegExp, string])[] = [
  [/auth-config\.auth-(headers|query)/, 'auth.$1'],
  [/tls\.ca-file/, 'tls.ca'],
  [/tls\.(?:cert|key)-file/, 'tls.clientCertificate'],
  [/auth-config/, 'auth'],
  [/set-relay-retry-limit/, 'retryLimit'],
  [/max-relay-attempts/, 'maxAttempts'],
  [/default-processing-timeout/, 'processingTimeout'],
  [/forbid-caller-cv/, 'forbidCallers'],
]

const topFields: ReadonlyMap<string, string> = new Map([
  ...settingSources.map(({ key, field }) => [key as string, field] as const),
  ['use-static-spec', 'spec.specSources'],
  ['shared-state', 'spec.sharedState'],
  ['cross-validation', 'spec.crossValidation'],
  ['logs', 'spec.logs'],
])

/** Maps a path such as `node-urls[0].url` in an upstream entry to a field of the provider. */
export function providerField(place: string): string {
  if (place === '') return 'spec'
  return place === 'name' ? 'spec.upstreamName' : `spec.${camelCase(place)}`
}

/**
 * Maps a path in the config, outside upstreams, to a field of the router.
 * @param endpoints in the order of the config
 */
export function routerField(
  place: string,
  endpoints: readonly Pick<Endpoint, 'name'>[],
  { main, forAnswers }: StateChoice,
): string {
  const [, top = '', rest = ''] = /^([^.[]*)(.*)$/.exec(place) ?? []
  if (top === 'endpoints') {
    const [, index = '', inner = ''] = /^\[(\d+)\](.*)$/.exec(rest) ?? []
    const name = endpoints[Number(index)]?.name
    const key = inner === '.network-address' ? '.port' : camelCase(inner)
    return name === undefined ? 'spec.endpoints' : `spec.endpoints[${name}]${key}`
  }
  const [ofRedis, inCache, part = ''] = /^(cache\.)?resp-cache(.*)$/.exec(place) ?? []
  if (ofRedis) return ((inCache ? forAnswers : main)?.field ?? 'spec') + camelCase(part)
  const field = topFields.get(top)
  return field === undefined ? 'spec' : field + camelCase(rest)
}

/** Matches a dash, except in the user's names of headers and parameters. */
const ownDash = /(?<!auth\.(?:headers|query)\..*)-([a-z])/g

function camelCase(place: string): string {
  return renames
    .reduce((named, [key, name]) => named.replace(key, name), place)
    .replaceAll(ownDash, (_, letter: string) => letter.toUpperCase())
}

/** The parser's refusals of a config, by object. */
export interface ValidationResult {
  readonly ofRouter: readonly RouterRefusal[]
  /** Refusals by provider name. */
  readonly ofProviders: ReadonlyMap<string, readonly ConfigRefusal[]>
  /** Listeners whose upstreams have no WebSocket URL; empty while the config has errors. */
  readonly withoutSocket: readonly ListenerWithoutSocket[]
}

/**
 * Validates a config with the router's own parser and the values of the Secrets. This finds a line
 * break at the end of a key before a pod fails. No message contains a value.
 */
export function validateConfig(
  listeners: readonly Listener[],
  upstreams: readonly UpstreamPlan[],
  plan: RouterPlan,
  data: ReferenceData,
): ValidationResult {
  const { catalog } = plan.specs
  const environment = environmentOf([plan, ...upstreams], data)
  const isHidden = ({ entry }: UpstreamPlan) =>
    entry['node-urls'].some(({ url }) => schemeOf(url, environment) === null)
  const hidden = upstreams.filter(isHidden).map(({ serves }) => serves)
  const readable = upstreams.map((upstream) => withReadableUrls(upstream, environment))
  const document = routerDocument(plan, listeners, readable)
  const parsed = parseConfig(document.text, { environment, flags: {} })
  const files = filesOf([plan, ...upstreams], data)
  const readText = (path: string) => files.get(path)?.text ?? null
  const { problems } = validateRouterConfig(parsed, { catalog, readText })
  const ofRouter: RouterRefusal[] = []
  const ofProviders = new Map<string, readonly ConfigRefusal[]>()
  const refuse = ({ provider }: UpstreamPlan, refusals: readonly ConfigRefusal[]) =>
    ofProviders.set(provider, [...(ofProviders.get(provider) ?? []), ...refusals])
  for (const problem of problems) {
    if (problem.severity !== 'error') continue
    const isOfChain =
      /(?:chain-id|api-interface)$/.test(problem.path) && !parsed.problems.includes(problem)
    const reason = isOfChain ? 'UnknownChain' : 'InvalidConfig'
    const message = [...files].reduce(
      (text, [path, { source }]) => text.replaceAll(path, source),
      sentenceOf(problem),
    )
    const place = upstreamPlace(problem.path, document)
    if (place === null) {
      const field = routerField(problem.path, document.endpoints, plan.state)
      ofRouter.push({ reason, field, message })
      continue
    }
    refuse(place.upstream, [{ reason, field: providerField(place.within), message }])
  }
  for (const { path, entry } of parsed.entries.upstreams.flatMap(({ urls }) => urls)) {
    const place = upstreamPlace(`${path}.url`, document)
    if (plan.allowLinkLocal || place === null || !isLinkLocal(entry.url?.url.reveal())) continue
    const field = providerField(place.within)
    refuse(place.upstream, [{ reason: 'InvalidConfig', field, message: linkLocalMessage }])
  }
  const found =
    parsed.config === null ? [] : listenersWithoutSocket(parsed.config, knownChains(catalog))
  const withoutSocket = found.map((listener) => ({
    ...listener,
    isCertain: listener.isCertain && !hidden.includes(listener.serves),
  }))
  return { ofRouter, ofProviders, withoutSocket }
}

const linkLocalMessage =
  'the host is a link-local address (169.254.0.0/16, fe80::/10) or another cloud metadata address; the operator accepts such URLs only with --allow-link-local true'

/**
 * Recognizes IPv4 addresses in any notation, also within IPv6, because the URL parser normalizes
 * them. Other metadata addresses of clouds count too: AWS over IPv6, and Google's name.
 */
function isLinkLocal(url = ''): boolean {
  const host = URL.parse(url.replace(/^(?:grpc|ws)/i, 'http'))?.hostname ?? ''
  return /^(?:169\.254\.\d+\.\d+$|metadata\.google\.internal\.?$|\[(?:fd00:ec2::254\]|fe[89ab][0-9a-f]:|(?:::(?:ffff:(?:0:)?)?|64:ff9b::)a9fe:))/.test(
    host,
  )
}

/** A path within an upstream's entry. */
interface UpstreamPlace {
  readonly upstream: UpstreamPlan
  readonly within: string
}

function upstreamPlace(path: string, { upstreams }: RouterDocument): UpstreamPlace | null {
  const [, list, index, within = ''] = /^((?:backup-)?direct-rpc)\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  if (list === undefined) return null
  const tier = list === 'direct-rpc' ? 'primary' : 'backup'
  const upstream = upstreams.filter((each) => each.tier === tier)[Number(index)]
  return upstream === undefined ? null : { upstream, within }
}

type Environment = Readonly<Record<string, string>>

/**
 * Replaces URLs that are invalid only because a value, such as a port or the whole URL, is missing.
 * A missing value is not a fault. If the scheme is unknown, it assumes https.
 */
function withReadableUrls(upstream: UpstreamPlan, environment: Environment): UpstreamPlan {
  const readable = (url: string): string => {
    const { scalar } = renderPlaceholders(url, environment)
    const isKnown = scalar.reveal()?.includes(standIn) !== true
    if (isKnown || upstreamUrl.safeParse(scalar).success) return url
    return `${schemeOf(url, environment) ?? 'https://'}${standIn}`
  }
  const nodeUrls = upstream.entry['node-urls'].map((node) => ({ ...node, url: readable(node.url) }))
  return { ...upstream, entry: { ...upstream.entry, 'node-urls': nodeUrls } }
}

/** Returns a scheme such as `wss://`; null if unknown. */
function schemeOf(url: string, environment: Environment): string | null {
  const value = renderPlaceholders(url, environment).scalar.reveal() ?? url
  return /^[a-z]+:\/\//i.exec(value)?.[0] ?? null
}

/** Replaces the router's hint: users of the operator cannot set the router's environment. */
const variableHint =
  'Only the url, header values and query values of an UpstreamProvider can refer to variables, those of its spec.variables. Write $${ for a literal ${.'

/** Returns the router's message and hint, without line numbers in a file that users do not see. */
export function sentenceOf({ message, hint }: Problem): string {
  const remedy = hint === unsetVariableHint ? variableHint : hint
  return [message, ...(remedy === null ? [] : [remedy])]
    .map((text) => text.replaceAll(/ \(used on lines? [\d, ?]+\)| on line [\d?]+/g, ''))
    .join('. ')
    .replaceAll('..', '.')
    .replaceAll('`--use-static-spec`', 'specSources')
}

/** Returns the pods' files by path, with a description for messages, and the text if known. */
function filesOf(
  all: readonly RequiredRefs[],
  data: ReferenceData,
): ReadonlyMap<string, { readonly source: string; readonly text: string | null }> {
  const found = new Map<string, { readonly source: string; readonly text: string | null }>()
  const known = (text: string | null) => (text === standIn ? null : text)
  for (const { files, copies } of all) {
    for (const { path, secret } of files) {
      const value = valueOf(secret, data)
      const source = `the key ${secret.key} of the Secret ${secret.name}`
      found.set(`${secretDirectory}/${path}`, { source, text: known(value) })
    }
    for (const { name, text } of copies)
      found.set(`${configDirectory}/${name}`, { source: 'the ConfigMap', text: known(text) })
  }
  return found
}
