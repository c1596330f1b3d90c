// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parse } from 'yaml'
import { apiVersion } from '../api/group.ts'
import { selects } from '../api/labels.ts'
import { type RpcRouter, rpcRouterSchema } from '../api/rpc-router.ts'
import { type UpstreamProvider, upstreamProviderSchema } from '../api/upstream-provider.ts'
import { type ReferenceData, configMapData, secretData } from '../translate/reference-data.ts'
import { translate } from '../translate/translate.ts'
import { type Translation } from '../translate/translation.ts'
import { pemTexts } from './pem.ts'
import { testSpecs } from './specs.ts'
import { type TranslateInput } from '../translate/translate-input.ts'

type Texts = Readonly<Record<string, string>>

/** Short form of a scenario in golden files: specs, merged into the smallest valid objects. */
interface ScenarioText {
  readonly router?: object
  readonly providers?: Readonly<Record<string, object>>
  readonly secrets?: Readonly<Record<string, Texts>>
  readonly configMaps?: Readonly<Record<string, Texts>>
  /** The previous scenario, whose config the pods have. */
  readonly before?: ScenarioText
  readonly [other: string]: unknown
}

/** A router, its providers, and their Secrets and ConfigMaps. */
export interface Scenario {
  readonly router: RpcRouter
  readonly providers: readonly UpstreamProvider[]
  readonly data: ReferenceData
  readonly before: Scenario | null
  readonly text: ScenarioText
}

export function readScenario(text: string): Scenario {
  return scenarioOf(parse(text) as ScenarioText)
}

function scenarioOf(text: ScenarioText): Scenario {
  const { router = {}, providers = { alpha: {} }, secrets = {}, configMaps = {}, before } = text
  const own = <T>(map: Readonly<Record<string, T>>, name: string): T | null =>
    Object.hasOwn(map, name) ? (map[name] ?? null) : null
  return {
    router: rpcRouterSchema.parse({
      apiVersion,
      kind: 'RpcRouter',
      metadata: { name: 'mainnet', namespace: 'rpc', uid: 'uid-of-mainnet', generation: 1 },
      spec: {
        endpoints: [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }],
        providerSelector: {},
        ...router,
      },
    }),
    providers: Object.entries(providers).map(([name, spec], index) => {
      const { labels, ...rest } = spec as { labels?: Texts }
      return upstreamProviderSchema.parse({
        apiVersion,
        kind: 'UpstreamProvider',
        metadata: {
          name,
          namespace: 'rpc',
          uid: `uid-of-${name}`,
          generation: 1,
          creationTimestamp: `2026-01-01T00:00:0${index}Z`,
          labels: labels ?? {},
        },
        spec: {
          chainId: 'ETH1',
          apiInterface: 'jsonrpc',
          nodeUrls: [{ url: `https://${name}.example` }],
          ...rest,
        },
      })
    }),
    data: {
      secret(name) {
        const stringData = own(secrets, name)
        return stringData && secretData({ stringData: expand(stringData), uid: `uid-of-${name}` })
      },
      configMap(name) {
        const data = own(configMaps, name)
        return data && configMapData(expand(data))
      },
    },
    before: before === undefined ? null : scenarioOf(before),
    text,
  }
}

/** Replaces the placeholders of golden files; `@200000` stands for that many letters. */
function expand(texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, textOf(text)]))
}

function textOf(text: string): string {
  if (!text.startsWith('@')) return text
  const words = text.split(' ')
  return words.map((word) => pemTexts.get(word) ?? 'x'.repeat(Number(word.slice(1)))).join('')
}

/** Returns the input of the translation, after translating the previous scenario. */
function translateInput({ router, providers, data, before }: Scenario): TranslateInput {
  const previous = before === null ? null : translate(translateInput(before)).config
  return {
    router,
    providers: providers.filter(({ metadata }) =>
      selects(router.spec.providerSelector, metadata.labels),
    ),
    data,
    bundled: testSpecs,
    openPorts: previous?.openPorts ?? [],
  }
}

export function translateScenario(scenario: Scenario): Translation {
  return translate(translateInput(scenario))
}
