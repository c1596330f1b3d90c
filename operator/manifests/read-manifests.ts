// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseAllDocuments } from 'yaml'
import type { z } from 'zod'
import { group } from '../api/group.ts'
import { type RpcRouter, rpcRouterSchema } from '../api/rpc-router.ts'
import { type UpstreamProvider, upstreamProviderSchema } from '../api/upstream-provider.ts'
import type { KeyedData } from '../translate/reference-data.ts'
import { configMapData, secretData } from '../translate/decode-data.ts'
import { unknownFields } from './unknown-fields.ts'

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

type Loose = Readonly<Record<string, unknown>>

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
  readonly #namespace: string

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  readText({ name: file, text }: ManifestText): void {
    for (const document of parseAllDocuments(text)) {
      const [fault] = document.errors
      if (fault === undefined) this.#take(file, document.toJS() as unknown)
      else {
        const message = fault.message.split('\n')[0] ?? 'is no YAML'
        this.problems.push({ file, object: '', message })
      }
    }
  }

  #take(file: string, document: unknown): void {
    if (document === null || document === undefined) return
    if (!isMap(document) || typeof document['kind'] !== 'string') {
      this.problems.push({ file, object: '', message: 'is no Kubernetes object: it has no kind' })
      return
    }
    const { kind, items } = document
    if (kind === 'List' && Array.isArray(items)) for (const item of items) this.#take(file, item)
    const { metadata } = document
    const given = isMap(metadata) ? metadata : {}
    const object = { ...document, metadata: { namespace: this.#namespace, ...given } }
    const key = `${object.metadata.namespace}/${String(given['name'])}`
    if (String(document['apiVersion']).startsWith(`${group}/`)) this.#takeOurs(file, key, object)
    else if (kind === 'Secret') this.secrets.set(key, secretData({ ...document, uid: undefined }))
    else if (kind === 'ConfigMap')
      this.configMaps.set(key, configMapData(document['data'] as Record<string, string>))
  }

  #takeOurs(file: string, key: string, object: Loose): void {
    const kind = String(object['kind'])
    const name = `${kind} ${key}`
    const add = <T>(schema: z.ZodType<T>, list: T[]): void => {
      const parsed = schema.safeParse(object)
      const problem = (message: string) => this.problems.push({ file, object: name, message })
      if (!parsed.success) {
        for (const { path, message } of parsed.error.issues)
          problem(`${path.join('.')}: ${message}`)
        return
      }
      for (const field of unknownFields(object, parsed.data)) problem(`${field}: is not a field`)
      list.push(parsed.data)
    }
    if (kind === 'RpcRouter') add(rpcRouterSchema, this.routers)
    else if (kind === 'UpstreamProvider') add(upstreamProviderSchema, this.providers)
    else this.problems.push({ file, object: name, message: `${group} has no kind ${kind}` })
  }
}

function isMap(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
