// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rpcRouterDefinition, upstreamProviderDefinition } from '../api/crd/definition.ts'
import { group, version } from '../api/group.ts'
import { type RpcRouter, rpcRouterSchema } from '../api/rpc-router.ts'
import { type UpstreamProvider, upstreamProviderSchema } from '../api/upstream-provider.ts'
import { type KeyedData, configMapData, secretData } from '../translate/reference-data.ts'
import { admit } from './admission.ts'
import {
  type Json,
  type JsonMap,
  isList,
  isMap,
  readDocuments,
  withoutNulls,
} from './read-documents.ts'

export interface ManifestText {
  readonly name: string
  readonly text: string
}

/** The objects in the manifests that the operator uses. */
export interface ManifestSet {
  readonly routers: readonly RpcRouter[]
  readonly providers: readonly UpstreamProvider[]
  /** By `namespace/name`. */
  readonly secrets: ReadonlyMap<string, KeyedData>
  readonly configMaps: ReadonlyMap<string, KeyedData>
  /** Problems of manifests: `a.yaml: RpcRouter rpc/mainnet: …`. */
  readonly problems: readonly string[]
  /** Providers that the API server would refuse, and that routers may still select. */
  readonly refusedProviders: readonly RefusedProvider[]
}

/** Identity of an invalid provider. */
export interface RefusedProvider {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Reads manifests in YAML or JSON, and skips other kinds. */
export function readManifests(texts: readonly ManifestText[], namespace: string): ManifestSet {
  const reader = new ManifestReader(namespace)
  for (const text of texts) reader.read(text)
  return reader
}

class ManifestReader implements ManifestSet {
  readonly routers: RpcRouter[] = []
  readonly providers: UpstreamProvider[] = []
  readonly secrets = new Map<string, KeyedData>()
  readonly configMaps = new Map<string, KeyedData>()
  readonly problems: string[] = []
  readonly refusedProviders: RefusedProvider[] = []
  static readonly #kinds = {
    RpcRouter: { definition: rpcRouterDefinition(), schema: rpcRouterSchema },
    UpstreamProvider: { definition: upstreamProviderDefinition(), schema: upstreamProviderSchema },
  }
  /** Position of the first occurrence of each object. */
  readonly #found = new Map<string, string>()
  readonly #namespace: string

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  read({ name: file, text }: ManifestText): void {
    for (const document of readDocuments(text)) {
      if ('value' in document) this.#add(file, document.place, document.value)
      else this.problems.push(`${file}: ${document.place}: ${document.fault}`)
    }
  }

  #add(file: string, place: string, document: Json): void {
    if (document === null) return
    if (!isMap(document) || typeof document['kind'] !== 'string') {
      this.problems.push(`${file}: ${place}: not a Kubernetes object: it has no kind`)
      return
    }
    const { kind, items, apiVersion } = document
    if (kind.endsWith('List') && isList(items)) {
      for (const [index, item] of items.entries())
        this.#add(file, `${place}, items[${index}]`, item)
      return
    }
    const object = this.#inNamespace(document)
    const key = `${wordOf(object.metadata['namespace'])}/${wordOf(object.metadata['name'])}`
    const problems = (messages: readonly string[]) =>
      this.problems.push(...messages.map((message) => `${file}: ${kind} ${key}: ${message}`))
    if (wordOf(apiVersion).startsWith(`${group}/`)) {
      const found = `${kind} ${key}`
      const first = this.#found.get(found)
      this.#found.set(found, first ?? `${file}, ${place}`)
      if (first === undefined) problems(this.#admit(kind, object))
      else problems([`${place}: the same object is in ${first}: remove one of them`])
    } else if (apiVersion === 'v1' && kind === 'Secret' && !isMap(object['sops'])) {
      // The data of a Secret that SOPS encrypted is unknown here.
      const data = textsOf(object['data'])
      this.secrets.set(key, secretData({ data, stringData: textsOf(object['stringData']) }))
    } else if (apiVersion === 'v1' && kind === 'ConfigMap')
      this.configMaps.set(key, configMapData(textsOf(object['data'])))
  }

  #inNamespace(object: JsonMap): JsonMap & { readonly metadata: JsonMap } {
    const metadata = isMap(object['metadata']) ? (withoutNulls(object['metadata']) as JsonMap) : {}
    return {
      ...object,
      metadata: { ...metadata, namespace: metadata['namespace'] || this.#namespace },
    }
  }

  /** @returns what is wrong with it */
  #admit(kind: string, object: JsonMap & { readonly metadata: JsonMap }): readonly string[] {
    const { apiVersion, metadata } = object
    if (kind !== 'RpcRouter' && kind !== 'UpstreamProvider') return [`${group} has no kind ${kind}`]
    if (apiVersion !== `${group}/${version}`)
      return [`apiVersion must be ${group}/${version}, not ${wordOf(apiVersion)}`]
    const admitted = admit<RpcRouter | UpstreamProvider>(ManifestReader.#kinds[kind], object)
    if ('object' in admitted) {
      if (admitted.object.kind === 'RpcRouter') this.routers.push(admitted.object)
      else this.providers.push(admitted.object)
      return []
    }
    if (kind === 'UpstreamProvider') this.refusedProviders.push(identityOf(metadata))
    return admitted.faults
  }
}

/** Returns the string values of a map. Only the API server checks the types of the others. */
function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = isMap(value) ? Object.entries(value) : []
  const texts = entries.map(([key, text]): [string, Json] => [key, text ?? ''])
  return Object.fromEntries(
    texts.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function identityOf({ namespace, name, labels }: JsonMap): RefusedProvider {
  return { namespace: wordOf(namespace), name: wordOf(name), labels: textsOf(labels) }
}

/** Returns a string unchanged, and any other value as JSON. */
function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
