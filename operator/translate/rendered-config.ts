// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHmac } from 'node:crypto'
import { inOrder } from './config-text.ts'
import { digest, digestEntries } from './digest.ts'
import {
  type Needs,
  type ReferenceData,
  type SecretFile,
  type SecretKey,
  type Variable,
  valueOf,
} from './reference-data.ts'
import { configFile } from './object-names.ts'
import type { RouterDocument, UpstreamPlan } from './router-document.ts'

/** A config that the router accepts, with all that its pods need. */
export interface RenderedConfig {
  /** The data of the ConfigMap. */
  readonly data: Readonly<Record<string, string>>
  readonly upstreams: readonly UpstreamPlan[]
  /** In the order of their names. */
  readonly variables: readonly Variable[]
  /** In the order of their paths. */
  readonly files: readonly SecretFile[]
  /** Ports of the endpoints that are open. */
  readonly openPorts: readonly number[]
  /** Of the ConfigMap's data, which it names: 16 digits. */
  readonly configHash: string
  /** Of the values of the keys that are referred to, and of nothing else in their Secrets. */
  readonly secretHash: string
}

/** Gathers what a config needs, under hashes that change when it does. */
export function renderConfig(
  { text, upstreams, endpoints }: RouterDocument,
  router: Needs,
  data: ReferenceData,
): RenderedConfig {
  const parts = [router, ...upstreams]
  const [allVariables, allFiles, allCopies] = [
    parts.flatMap((part) => part.variables),
    parts.flatMap((part) => part.files),
    parts.flatMap((part) => part.copies),
  ]
  const variables = inOrder(allVariables, ({ name }) => name)
  const files = inOrder(allFiles, ({ path }) => path)
  const texts: Record<string, string> = { [configFile]: text }
  for (const copy of inOrder(allCopies, ({ name }) => name)) texts[copy.name] = copy.text
  const used = [...variables, ...files].map(({ secret }) => secret)
  return {
    data: texts,
    upstreams,
    variables,
    files,
    openPorts: endpoints.map(({ port }) => port),
    configHash: digestEntries(Object.entries(texts)),
    secretHash: digestEntries(hashSecrets(used, data)),
  }
}

/** A hash of each key of a Secret that pods use, under a hash of where it stands: both of 16 digits. */
export type SecretHashes = ReadonlyMap<string, string>

/**
 * Hashes what pods use of Secrets, so that a change is known by it. The hash is keyed with the uid of the Secret, which
 * only those learn who may read the Secret: others cannot try out values against it.
 */
export function hashSecrets(used: readonly SecretKey[], data: ReferenceData): SecretHashes {
  const hashes = used.map((each) => [digest([each.name, each.key]), hashOf(each, data)] as const)
  return new Map(hashes.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Empty for a value that is gone, or of a Secret which the API server has not made. */
function hashOf(secret: SecretKey, data: ReferenceData): string {
  const value = valueOf(secret, data)
  const uid = data.secret(secret.name)?.uid
  if (value === null || uid === undefined) return ''
  return createHmac('sha256', uid).update(value).digest('hex').slice(0, 16)
}
