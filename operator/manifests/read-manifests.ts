// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { Admission } from '../admission/admission.ts'
import { isList, isMap, type Json, type JsonMap } from '../admission/fault.ts'
import type { CustomResourceDefinition } from '../api/crd/definition.ts'
import { rpcRouterDefinition } from '../api/crd/rpc-router.ts'
import { upstreamProviderDefinition } from '../api/crd/upstream-provider.ts'
import { group, version } from '../api/group.ts'
import { type RpcRouter, rpcRouterSchema } from '../api/rpc-router.ts'
import { type UpstreamProvider, upstreamProviderSchema } from '../api/upstream-provider.ts'
import type { KeyedData } from '../translate/reference-data.ts'
import { metadataFaults, withoutNulls } from './metadata-faults.ts'
import { nameFault } from './name-fault.ts'
import { type ManifestData, readConfigMap, readSecret } from './read-data.ts'
import { readDocuments } from './read-documents.ts'

/** A file of manifests. */
export interface ManifestText {
  readonly name: string
  readonly text: string
}

/** What is wrong with a manifest. */
export interface ManifestProblem {
  readonly file: string
  /** `RpcRouter rpc/mainnet`; empty for the file as a whole. */
  readonly object: string
  readonly message: string
}

/** What manifests hold, as far as it concerns the operator. */
export interface ManifestSet {
  readonly routers: readonly RpcRouter[]
  readonly providers: readonly UpstreamProvider[]
  /** By `namespace/name`. */
  readonly secrets: ReadonlyMap<string, KeyedData>
  readonly configMaps: ReadonlyMap<string, KeyedData>
  readonly problems: readonly ManifestProblem[]
  /** Providers that the API server would refuse: routers that select them are not wrong about that. */
  readonly refusedProviders: readonly RefusedProvider[]
}

/** As much as is to be known of a provider that cannot be read. */
export interface RefusedProvider {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Reads manifests in YAML or JSON. Kinds that do not concern the operator are passed over. */
export function readManifests(texts: readonly ManifestText[], namespace: string): ManifestSet {
  const reader = new ManifestReader(namespace)
  for (const text of texts) reader.readText(text)
  return reader
}

interface Source {
  readonly file: string
  readonly place: string
}

class ManifestReader implements ManifestSet {
  readonly routers: RpcRouter[] = []
  readonly providers: UpstreamProvider[] = []
  readonly secrets = new Map<string, KeyedData>()
  readonly configMaps = new Map<string, KeyedData>()
  readonly problems: ManifestProblem[] = []
  readonly refusedProviders: RefusedProvider[] = []
  readonly #admissions = new Map<string, Admission>()
  /** Where each object of our kinds was first found. */
  readonly #ours = new Map<string, Source>()
  readonly #namespace: string

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  readText({ name: file, text }: ManifestText): void {
    for (const document of readDocuments(text)) {
      const { place } = document
      if ('value' in document) this.#take({ file, place }, document.value)
      else this.problems.push({ file, object: '', message: `${place}: ${document.fault}` })
    }
  }

  #take(source: Source, document: Json): void {
    if (document === null) return
    const { file, place } = source
    if (!isMap(document) || typeof document['kind'] !== 'string') {
      const message = `${place}: is no Kubernetes object: it has no kind`
      this.problems.push({ file, object: '', message })
      return
    }
    const { kind, items } = document
    if (kind.endsWith('List') && isList(items)) {
      for (const [index, item] of items.entries())
        this.#take({ file, place: `${place}, items[${index}]` }, item)
      return
    }
    const key = this.#keyOf(document)
    const isCore = document['apiVersion'] === 'v1'
    if (wordOf(document['apiVersion']).startsWith(`${group}/`)) this.#takeOurs(source, document)
    else if (kind === 'Secret' && isCore)
      this.#takeData(this.secrets, file, `Secret ${key}`, key, readSecret(document))
    else if (kind === 'ConfigMap' && isCore)
      this.#takeData(this.configMaps, file, `ConfigMap ${key}`, key, readConfigMap(document))
  }

  /** `namespace/name`, with what stands there, be it good or not. */
  #keyOf({ metadata }: JsonMap): string {
    const { namespace, name = '' } = isMap(metadata) ? metadata : {}
    return `${wordOf(namespace || this.#namespace)}/${wordOf(name)}`
  }

  #takeData(
    to: Map<string, KeyedData>,
    file: string,
    object: string,
    key: string,
    read: ManifestData,
  ): void {
    if ('faults' in read)
      for (const message of read.faults) this.problems.push({ file, object, message })
    else if (read.data !== null) to.set(key, read.data)
  }

  #takeOurs(source: Source, object: JsonMap): void {
    const { file, place } = source
    const kind = wordOf(object['kind'])
    const apiVersion = wordOf(object['apiVersion'])
    const name = `${kind} ${this.#keyOf(object)}`
    const problem = (message: string) => {
      this.problems.push({ file, object: name, message })
    }
    const unnamed = nameFault(object)
    const first = this.#ours.get(name)
    const add = <T>({ definition, schema }: OurKind<T>, list: T[]): void => {
      const admission = this.#admissions.get(kind) ?? new Admission(definition())
      this.#admissions.set(kind, admission)
      const whole = inNamespace(object, this.#namespace)
      const admitted = admission.admit(whole)
      const faults = [...metadataFaults(whole.metadata), ...admitted.faults]
      for (const fault of faults) problem(fault)
      if (faults.length > 0) return
      const parsed = schema.safeParse(admitted.object)
      if (parsed.success) list.push(parsed.data)
      else
        for (const { path, message } of parsed.error.issues)
          problem(`${path.join('.')}: ${message}`)
    }
    if (kind !== 'RpcRouter' && kind !== 'UpstreamProvider') problem(`${group} has no kind ${kind}`)
    else if (apiVersion !== `${group}/${version}`)
      problem(`apiVersion must be ${group}/${version}, not ${apiVersion}`)
    else if (unnamed !== null)
      this.problems.push({ file, object: kind, message: `${place}: ${unnamed}` })
    else if (first !== undefined)
      problem(`${place}: the same object is in ${first.file}, ${first.place}: remove one of them`)
    else {
      this.#ours.set(name, source)
      if (kind === 'RpcRouter') add(routerKind, this.routers)
      else {
        const before = this.providers.length
        add(providerKind, this.providers)
        if (this.providers.length === before)
          this.refusedProviders.push(identityOf(inNamespace(object, this.#namespace).metadata))
      }
    }
  }
}

function inNamespace(object: JsonMap, fallback: string): JsonMap & { readonly metadata: JsonMap } {
  const metadata = isMap(object['metadata']) ? withoutNulls(object['metadata']) : {}
  return { ...object, metadata: { ...metadata, namespace: metadata['namespace'] || fallback } }
}

function identityOf({ namespace, name, labels }: JsonMap): RefusedProvider {
  const texts = Object.entries(isMap(labels) ? labels : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return {
    namespace: wordOf(namespace),
    name: wordOf(name),
    labels: Object.fromEntries(texts),
  }
}

interface OurKind<T> {
  readonly definition: () => CustomResourceDefinition
  readonly schema: z.ZodType<T>
}

const routerKind: OurKind<RpcRouter> = { definition: rpcRouterDefinition, schema: rpcRouterSchema }
const providerKind: OurKind<UpstreamProvider> = {
  definition: upstreamProviderDefinition,
  schema: upstreamProviderSchema,
}

/** A text as it is; what should be one, and is not, as JSON. */
function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
