// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash, createHmac } from 'node:crypto'
import type { RpcRouter } from '../api/rpc-router.ts'
import { inOrder } from './config-text.ts'
import { digest, digestEntries, configFile, keyDirectory, redisPort } from './object-names.ts'
import {
  type Needs,
  type ReferenceData,
  type SecretFile,
  type SecretKey,
  type Variable,
  valueOf,
} from './reference-data.ts'
import type { RouterDocument, UpstreamPlan } from './router-document.ts'
import { redisOf } from './state-store.ts'
import type { PlainVariable } from './tracing-environment.ts'
import type { TranslateInput } from './translation.ts'

/** A config that the router accepts, with all that its pods need. */
export interface RenderedConfig {
  /** The data of the ConfigMap. */
  readonly data: Readonly<Record<string, string>>
  readonly upstreams: readonly UpstreamPlan[]
  /** Of the environment, in the order of their names: what is read at the start only. */
  readonly variables: readonly Variable[]
  /** Of the environment as well, behind those: they may name them. */
  readonly environment: readonly PlainVariable[]
  /** In the order of their paths. The variables of upstreams are among them, since running pods see these change. */
  readonly files: readonly SecretFile[]
  /** Ports of the endpoints that are open. */
  readonly openPorts: readonly number[]
  /** Of the router's config as pods have it: 16 digits, with which `sha256sum` of the file begins. */
  readonly contentHash: string
  /** Of what pods must be made anew for. It names the ConfigMap: pods see only contents that they can take over. */
  readonly fixedHash: string
  /** Of the values of Secrets that pods read at their start only. */
  readonly secretHash: string
  /** Of the values that running pods take over. */
  readonly keyHash: string
  /** Further annotations of the Deployment that record the state of the config exchange. */
  readonly marks?: Readonly<Record<string, string>>
}

/** Gathers what a config needs, under hashes that change when it does. */
export function renderConfig(
  { text, fixed, upstreams, endpoints }: RouterDocument,
  plan: Needs & Pick<RenderedConfig, 'environment'>,
  { router, data, image = '' }: Pick<TranslateInput, 'router' | 'data' | 'image'>,
): RenderedConfig {
  const variables = inOrder(plan.variables, ({ name }) => name)
  const live = upstreams.flatMap((each) => [
    ...each.files,
    ...each.variables.map(({ name, secret }) => ({ path: `${keyDirectory}/${name}`, secret })),
  ])
  const byPath = new Map([...plan.files, ...live].map((file) => [file.path, file]))
  const files = inOrder([...byPath.values()], ({ path }) => path)
  const copies = [plan, ...upstreams].flatMap((part) => part.copies)
  const texts: Record<string, string> = { [configFile]: text }
  for (const copy of inOrder(copies, ({ name }) => name)) texts[copy.name] = copy.text
  const secretsOf = (used: readonly { readonly secret: SecretKey }[]) =>
    digestEntries(
      hashSecrets(
        used.map(({ secret }) => secret),
        data,
      ),
    )
  const ports = egressPorts(router, { upstreams })
  const { environment } = plan
  return {
    data: texts,
    upstreams,
    variables,
    environment,
    files,
    openPorts: endpoints.map(({ port }) => port),
    contentHash: contentHashOf(text),
    fixedHash: digest([
      ...[
        fixed,
        JSON.stringify([variables, files, ports, ...environment]),
        router.spec.pod.image ?? image,
      ],
      ...inOrder(plan.copies, ({ name }) => name).flatMap(({ name, text: copy }) => [name, copy]),
    ]),
    secretHash: secretsOf([...variables, ...plan.files]),
    keyHash: secretsOf(live),
  }
}

export function contentHashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/**
 * A hash of each key of a Secret that pods use, which changes with its value. It is keyed with the uid of the Secret, which
 * can only be learnt with the right to read the Secret: without it, values cannot be tried out against the hash.
 */
export function hashSecrets(
  used: readonly SecretKey[],
  data: ReferenceData,
): ReadonlyMap<string, string> {
  return new Map(used.map((each) => [digest([each.name, each.key]), hashOf(each, data)]))
}

/** Empty for a value that is gone, or of a Secret which the API server has not made. */
function hashOf(secret: SecretKey, data: ReferenceData): string {
  const value = valueOf(secret, data)
  const uid = data.secret(secret.name)?.uid
  if (value === null || uid === undefined) return ''
  return createHmac('sha256', uid).update(value).digest('hex').slice(0, 16)
}

const usualPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['ws', 80],
  ['grpc', 80],
  ['https', 443],
  ['wss', 443],
  ['grpcs', 443],
])

/**
 * The TCP ports that the pods connect to, in order; `any` when a port is in a Secret. A text that is no port is left out:
 * the API server would refuse the whole NetworkPolicy for it.
 */
export function egressPorts(
  router: RpcRouter,
  config: Pick<RenderedConfig, 'upstreams'>,
): readonly number[] | 'any' {
  const { cache, sharedState, specSources = [], tracing } = router.spec
  const urls = [
    ...config.upstreams.flatMap(({ entry }) => entry['node-urls'].map(({ url }) => url)),
    ...[...specSources.map(({ url }) => url), tracing?.endpoint].filter((url) => url !== undefined),
  ]
  const addresses = [
    ...redisOf(router.spec).flatMap((redis) =>
      'settings' in redis ? `:${redisPort}` : redis.connection.addresses,
    ),
    ...[cache?.cacheService, sharedState.cacheService].flatMap((each) => each?.address ?? []),
  ]
  const ports = [
    ...urls.map(portOf),
    ...addresses.map((address) => Number(/\d+$/.exec(address)?.[0])),
  ]
  if (ports.includes(null)) return 'any'
  return [...new Set((ports as readonly number[]).filter(isPort))].toSorted((a, b) => a - b)
}

/** Whether the port of a URL of an upstream is in a Secret. */
export function hidesPort({ entry }: UpstreamPlan): boolean {
  return entry['node-urls'].some(({ url }) => portOf(url) === null)
}

/** The port of a URL as the config writes it; null when a variable is there. */
function portOf(url: string): number | null {
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([^/?#]*)/i.exec(url) ?? []
  const written = /:(\d+)$/.exec(authority)?.[1]
  if (written !== undefined) return Number(written)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return /\$[{<]/.test(host) ? null : (usualPorts.get(scheme.toLowerCase()) ?? null)
}

/** True for what a TCP port can be. */
export function isPort(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 65_535
}
