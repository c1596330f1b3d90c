// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash, createHmac } from 'node:crypto'
import type { RpcRouter } from '../api/rpc-router.ts'
import { inOrder } from './config-text.ts'
import { digest, digestEntries, configFile, keyDirectory, redisPort } from './object-names.ts'
import {
  type RequiredRefs,
  type ReferenceData,
  type SecretFile,
  type SecretKey,
  type Variable,
  valueOf,
} from './reference-data.ts'
import type { RouterDocument, UpstreamPlan } from './router-document.ts'
import { redisOf } from './state-store.ts'
import type { PlainVariable } from './tracing-environment.ts'
import type { TranslateInput } from './translate-input.ts'
import type { RouterRefusal } from './violations.ts'

/** A valid config with everything that its pods need. */
export interface RenderedConfig {
  /** Data of the ConfigMap. */
  readonly data: Readonly<Record<string, string>>
  readonly upstreams: readonly UpstreamPlan[]
  /** Environment variables from Secrets, sorted by name. Pods read them only at startup. */
  readonly variables: readonly Variable[]
  /** Other environment variables, which may refer to those above. */
  readonly environment: readonly PlainVariable[]
  /** Files sorted by path. They include variables of upstreams, so that pods reload changes. */
  readonly files: readonly SecretFile[]
  /** Ports of open endpoints. */
  readonly openPorts: readonly number[]
  /** Hash of the config: the first 16 digits of the file's `sha256sum`. */
  readonly contentHash: string
  /** Hash of everything that pods cannot reload. It is part of the ConfigMap's name. */
  readonly fixedHash: string
  /** Hash of the Secret values that pods read only at startup. */
  readonly secretHash: string
  /** Hash of the Secret values that pods reload. */
  readonly keyHash: string
  /** Other annotations of the Deployment, which record the state of the config exchange. */
  readonly marks?: Readonly<Record<string, string>>
}

/** Collects a config's data, and the hashes that change with it. */
export function renderConfig(
  { text, fixed, upstreams, endpoints }: RouterDocument,
  plan: RequiredRefs & Pick<RenderedConfig, 'environment'>,
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

/** What a ConfigMap holds, and what the router reads of a config. */
const mostBytes = 2 ** 20

/** Refuses a config that its ConfigMap cannot hold. */
export function refusalOfSize({ data }: RenderedConfig): readonly RouterRefusal[] {
  const sizes = Object.entries(data).map(([name, text]) => [name, Buffer.byteLength(text)] as const)
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0)
  if (bytes <= mostBytes) return []
  const own = sizes.find(([name]) => name === configFile)?.[1] ?? 0
  const kib = (size: number) => `${Math.ceil(size / 1024)} KiB`
  const message = `the config takes ${kib(own)}, and the chain specs and certificates with it ${kib(bytes - own)}, but a ConfigMap holds 1024 KiB: move some endpoints and their providers to another RpcRouter`
  return [{ reason: 'InvalidConfig', field: '', message }]
}

export function contentHashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/**
 * Returns a hash of each Secret key that pods use. Its key is the uid of the Secret, known only to
 * those who may read the Secret, so that nobody else can test guesses against the hash.
 */
export function hashSecrets(
  used: readonly SecretKey[],
  data: ReferenceData,
): ReadonlyMap<string, string> {
  return new Map(used.map((each) => [digest([each.name, each.key]), hashOf(each, data)]))
}

/** Returns an empty hash for a missing value, or for a Secret without a uid. */
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
 * Returns the sorted TCP ports to which the pods connect; `any` if one is in a Secret. It ignores
 * invalid ports, because the API server would refuse the whole NetworkPolicy.
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

/** Whether the port of an upstream's URL is in a Secret. */
export function hidesPort({ entry }: UpstreamPlan): boolean {
  return entry['node-urls'].some(({ url }) => portOf(url) === null)
}

/** Returns the port of a URL in the config; null if a variable hides it. */
function portOf(url: string): number | null {
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([^/?#]*)/i.exec(url) ?? []
  const written = /:(\d+)$/.exec(authority)?.[1]
  if (written !== undefined) return Number(written)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return /\$[{<]/.test(host) ? null : (usualPorts.get(scheme.toLowerCase()) ?? null)
}

/** Whether a number is a valid TCP port. */
export function isPort(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 65_535
}
