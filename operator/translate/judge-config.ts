// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { unsupportedMessage } from '../../proxy/config/capabilities.ts'
import { parseConfig, unsetVariableHint } from '../../proxy/config/parse.ts'
import type { Problem } from '../../proxy/config/problem.ts'
import {
  type ListenerWithoutSocket,
  listenersWithoutSocket,
} from '../../proxy/config/socket-check.ts'
import { renderPlaceholders } from '../../proxy/config/yaml/placeholder.ts'
import { upstreamUrl } from '../../proxy/config/fields/upstream-url.ts'
import type { JudgedSpecs } from './chain-check.ts'
import { providerField, routerField } from './config-field.ts'
import { standIn } from './environment.ts'
import { configFile } from './pod-paths.ts'
import type { RouterDocument, UpstreamPlan } from './router-document.ts'
import type { ConfigRefusal, ProviderRefusal, RouterRefusal } from './violation.ts'

/** What the router itself says of a config: of which provider, or of the router object. */
export interface Judgement {
  readonly ofRouter: readonly RouterRefusal[]
  /** By name of the provider. */
  readonly ofProviders: ReadonlyMap<string, readonly ProviderRefusal[]>
  /** Listeners whose upstreams have no WebSocket URL; none while the config has errors. */
  readonly withoutSocket: readonly ListenerWithoutSocket[]
}

/**
 * Lets the router's own parser judge a config, with the values of the Secrets in place, so that a line break at the
 * end of a key is found before a pod fails over it. No message holds a value.
 */
export function judgeConfig(
  document: RouterDocument,
  environment: Readonly<Record<string, string>>,
  { check, subscribes }: Pick<JudgedSpecs, 'check' | 'subscribes'>,
): Judgement {
  const parsed = parseConfig({ name: configFile, text: document.text }, { environment, flags: {} })
  const ofChains = check(parsed.chainUses)
  const ofRouter: RouterRefusal[] = []
  const ofProviders = new Map<string, ConfigRefusal[]>()
  const errors = parsed.problems.filter(({ severity }) => severity === 'error')
  for (const problem of [...errors, ...ofChains]) {
    const reason = reasonOf(problem, ofChains.includes(problem))
    const message = sentenceOf(problem)
    const place = upstreamPlace(problem.path, document)
    if (place === null) {
      const field = routerField(problem.path, document.endpoints, document.storeField)
      ofRouter.push({ reason: isUnsupported(problem) ? 'Unsupported' : reason, field, message })
      continue
    }
    if (isOfStandIn(place, environment)) continue
    const refusal = { reason, field: providerField(place.within), message }
    const { provider } = place.upstream
    const refusals = ofProviders.get(provider) ?? []
    refusals.push(refusal)
    ofProviders.set(provider, refusals)
  }
  const facts = { chainIdOf: (chainId: string) => chainId, subscribes }
  const withoutSocket = parsed.config === null ? [] : listenersWithoutSocket(parsed.config, facts)
  return { ofRouter, ofProviders, withoutSocket }
}

/** A place in the entry of an upstream. */
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

const urlField = upstreamUrl()

/**
 * Whether a URL is no URL for want of a value that is not known: that may be a port or all of it, and is missing, not
 * wrong. Anything else can be said of every place with the stand-in.
 */
function isOfStandIn(
  { upstream, within }: UpstreamPlace,
  environment: Readonly<Record<string, string>>,
): boolean {
  const [, index] = /^node-urls\[(\d+)\]\.url$/.exec(within) ?? []
  if (index === undefined) return false
  const { 'node-urls': nodeUrls } = upstream.entry as unknown as UrlEntry
  const { scalar } = renderPlaceholders(nodeUrls[Number(index)]?.url ?? '', environment)
  const isKnown = scalar.reveal()?.includes(standIn) !== true
  return !isKnown && !urlField.safeParse(scalar).success
}

/** What is looked at of an entry of the config. */
interface UrlEntry {
  readonly 'node-urls': readonly { readonly url: string }[]
}

const unsupportedEnding = unsupportedMessage('').trim()

/** Settings of endpoints and of the router: of an upstream there is none that the router does not do. */
function isUnsupported({ message }: Problem): boolean {
  return message.includes(unsupportedEnding)
}

function reasonOf({ path }: Problem, isOfChains: boolean): ConfigRefusal['reason'] {
  return isOfChains && /(?:chain-id|api-interface)$/.test(path) ? 'UnknownChain' : 'InvalidConfig'
}

/** Who uses the operator has no environment of the router's. */
const variableHint =
  'Only a url, a header value and a query value of an UpstreamProvider can name variables, those of its spec.variables. A literal ${ is written $${.'

/** The router's sentence and its remedy, without the lines of a file that nobody sees. */
export function sentenceOf({ message, hint }: Problem): string {
  const remedy = hint === unsetVariableHint ? variableHint : hint
  return [message, ...(remedy === null ? [] : [remedy])]
    .map((text) => text.replaceAll(/ \(used on lines? [\d, ?]+\)| on line [\d?]+/g, ''))
    .join('. ')
    .replaceAll('..', '.')
    .replaceAll('`--use-static-spec`', 'specSources')
}
