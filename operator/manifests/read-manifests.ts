// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseAllDocuments } from 'yaml'
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
import { configMapData, secretData } from '../translate/decode-data.ts'

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
}

/** Reads manifests in YAML or JSON. Kinds that do not concern the operator are passed over. */
export function readManifests(texts: readonly ManifestText[], namespace: string): ManifestSet {
  const reader = new ManifestReader(namespace)
  for (const text of texts) reader.readText(text)
  return reader
}

class ManifestReader implements ManifestSet {
  readonly routers: RpcRouter[] = []
  readonly providers: UpstreamProvider[] = []
  readonly secrets = new Map<string, KeyedData>()
  readonly configMaps = new Map<string, KeyedData>()
  readonly problems: ManifestProblem[] = []
  readonly #admissions = new Map<string, Admission>()
  readonly #namespace: string

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  readText({ name: file, text }: ManifestText): void {
    for (const document of parseAllDocuments(text)) {
      const [fault] = document.errors
      if (fault === undefined) this.#take(file, document.toJS() as Json)
      else {
        const message = fault.message.split('\n')[0] ?? 'is no YAML'
        this.problems.push({ file, object: '', message })
      }
    }
  }

  #take(file: string, document: Json): void {
    if (document === null) return
    if (!isMap(document) || typeof document['kind'] !== 'string') {
      this.problems.push({ file, object: '', message: 'is no Kubernetes object: it has no kind' })
      return
    }
    const { kind, items } = document
    if (kind === 'List' && isList(items)) for (const item of items) this.#take(file, item)
    const { metadata } = document
    const given = isMap(metadata) ? metadata : {}
    const object = { ...document, metadata: { namespace: this.#namespace, ...given } }
    const key = `${object.metadata.namespace}/${wordOf(given['name'])}`
    if (wordOf(document['apiVersion']).startsWith(`${group}/`)) this.#takeOurs(file, key, object)
    else if (kind === 'Secret') this.secrets.set(key, secretData({ ...document, uid: undefined }))
    else if (kind === 'ConfigMap')
      this.configMaps.set(key, configMapData(document['data'] as Record<string, string>))
  }

  #takeOurs(file: string, key: string, object: JsonMap): void {
    const kind = wordOf(object['kind'])
    const apiVersion = wordOf(object['apiVersion'])
    const problem = (message: string) => {
      this.problems.push({ file, object: `${kind} ${key}`, message })
    }
    const add = <T>({ definition, schema }: OurKind<T>, list: T[]): void => {
      const admission = this.#admissions.get(kind) ?? new Admission(definition())
      this.#admissions.set(kind, admission)
      const admitted = admission.admit(object)
      for (const fault of admitted.faults) problem(fault)
      if (admitted.faults.length > 0) return
      const parsed = schema.safeParse(admitted.object)
      if (parsed.success) list.push(parsed.data)
      else
        for (const { path, message } of parsed.error.issues)
          problem(`${path.join('.')}: ${message}`)
    }
    if (kind !== 'RpcRouter' && kind !== 'UpstreamProvider') problem(`${group} has no kind ${kind}`)
    else if (apiVersion !== `${group}/${version}`)
      problem(`apiVersion must be ${group}/${version}, not ${apiVersion}`)
    else if (kind === 'RpcRouter') add(routerKind, this.routers)
    else add(providerKind, this.providers)
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
