// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digestEntries, hashEntries, shorten } from './digest.ts'
import { configFile, upstreamsFile } from './pod-paths.ts'
import type { ReferenceData, SecretFile, Variable } from './reference-data.ts'
import type { RouterDocument, RouterPlan, UpstreamPlan } from './router-document.ts'
import { hashSecrets, type SecretHashes } from './secret-hashes.ts'
import { writeUpstreams } from './stored-upstreams.ts'

/** A config that the router accepts, with all that its pods need. */
export interface RenderedConfig {
  /** The data of the ConfigMap. */
  readonly data: Readonly<Record<string, string>>
  readonly upstreams: readonly UpstreamPlan[]
  /** In the order of their names. */
  readonly variables: readonly Variable[]
  /** In the order of their paths. */
  readonly files: readonly SecretFile[]
  /** Of the ConfigMap's data: 64 digits. */
  readonly contentHash: string
  /** The beginning of it, which names the config: 16 digits. */
  readonly configHash: string
  /** Of the keys that are referred to, and of nothing else in their Secrets. */
  readonly secretHashes: SecretHashes
  /** Of all of them. */
  readonly secretHash: string
}

/**
 * Gathers what a config needs, under hashes that change when it does.
 *
 * @param before hashes of the Secrets that pods run with
 */
export function renderConfig(
  { text, upstreams }: RouterDocument,
  router: RouterPlan,
  data: ReferenceData,
  before: SecretHashes,
): RenderedConfig {
  const parts = [router, ...upstreams]
  const copies = parts.flatMap((part) => part.copies.map((copy) => [copy.name, copy.text] as const))
  const variables = sortBy(
    parts.flatMap((part) => part.variables),
    (variable) => variable.name,
  )
  const files = sortBy(
    parts.flatMap((part) => part.files),
    (file) => file.path,
  )
  const texts: Record<string, string> = {
    [configFile]: text,
    [upstreamsFile]: writeUpstreams(upstreams),
    ...Object.fromEntries(sortBy(copies, ([name]) => name)),
  }
  const used = [...variables, ...files].map(({ secret }) => secret)
  const secretHashes = hashSecrets(used, data, before)
  const contentHash = hashEntries(Object.entries(texts))
  return {
    data: texts,
    upstreams,
    variables,
    files,
    contentHash,
    configHash: shorten(contentHash),
    secretHashes,
    secretHash: digestEntries(secretHashes),
  }
}

function sortBy<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : Number(keyOf(a) > keyOf(b))))
}
