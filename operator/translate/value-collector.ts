// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ConfigMapKeyRef, SecretKeyRef, Tls, ValueFrom } from '../api/refs.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Piece, type TlsEntry, variableName } from './config-text.ts'
import { digest, configDirectory, secretDirectory } from './object-names.ts'
import {
  type CopiedFile,
  type KeyedData,
  type ReferenceData,
  type SecretFile,
  type Variable,
  standIn,
} from './reference-data.ts'
import type { UnresolvedRef } from './violations.ts'

/** A field of an object: its path for messages, and stable words that name variables and files. */
export interface ValueSource {
  readonly field: string
  readonly words: readonly string[]
}

/**
 * Collects the references of an object (a provider or the router) while its part of the config is
 * written. A value in a Secret becomes a variable or a mounted file. A value in a ConfigMap is
 * copied, because it is not secret and a rollback must restore it.
 */
export class ValueCollector {
  readonly variables: Variable[] = []
  readonly files: SecretFile[] = []
  readonly copies: CopiedFile[] = []
  /** Names of the variables. */
  readonly #names = new Set<string>()
  readonly #unresolvedRefs: UnresolvedRef[] = []
  readonly #data: ReferenceData
  readonly #namespace: string

  /** @param object that has the references */
  constructor(data: ReferenceData, { metadata: { namespace = '' } }: Pick<KubeObject, 'metadata'>) {
    this.#data = data
    this.#namespace = namespace
  }

  /** Returns each missing object or key once, with the fields that refer to it. */
  get unresolvedRefs(): readonly UnresolvedRef[] {
    const byMessage = Map.groupBy(this.#unresolvedRefs, ({ message }) => message)
    return [...byMessage.values()].flatMap((all) => {
      const [first] = all
      return first === undefined ? [] : [{ ...first, field: fieldsText(all) }]
    })
  }

  /** Returns a value as the config refers to it. */
  value(source: ValueSource, { secretKeyRef, configMapKeyRef }: ValueFrom): Piece {
    if (secretKeyRef !== undefined) return this.secretValue(source, secretKeyRef)
    if (configMapKeyRef === undefined) return { literal: '' }
    return { literal: this.#configMapText(source, configMapKeyRef) ?? standIn }
  }

  /** Returns a value of a Secret as the config refers to it. */
  secretValue(source: ValueSource, secret: SecretKeyRef): Piece {
    this.#checkSecret(source, secret)
    return this.ownSecretValue(secret)
  }

  /** The same for a managed Secret, which may not exist yet. */
  ownSecretValue(secret: SecretKeyRef): Piece {
    const name = variableName([secret.name, secret.key])
    if (!this.#names.has(name)) {
      this.#names.add(name)
      this.variables.push({ name, secret })
    }
    return { variable: name }
  }

  /** Adds a file and returns its path in the pods. */
  file(source: ValueSource, { secretKeyRef, configMapKeyRef }: ValueFrom): string {
    if (secretKeyRef !== undefined) return this.secretFile(source, secretKeyRef)
    if (configMapKeyRef === undefined) return ''
    const text = this.#configMapText(source, configMapKeyRef)
    return this.copiedFile(source, text ?? standIn, 'pem')
  }

  /** Adds a file from a Secret and returns its path in the pods. */
  secretFile(source: ValueSource, secret: SecretKeyRef): string {
    const path = `${digest(source.words)}.pem`
    this.files.push({ path, secret })
    this.#checkSecret(source, secret)
    return `${secretDirectory}/${path}`
  }

  /** Adds a file with this text and returns its path in the pods. */
  copiedFile(source: ValueSource, text: string, extension: string): string {
    const name = `${digest(source.words)}.${extension}`
    this.copies.push({ name, text })
    return `${configDirectory}/${name}`
  }

  /** Returns texts of a ConfigMap by key: those of the given keys, or all. */
  configMapTexts(
    field: string,
    name: string,
    keys: readonly string[] | undefined,
  ): readonly (readonly [key: string, text: string])[] {
    const data = this.#data.configMap(name)
    if (data === null) {
      this.#unresolvedRefs.push(this.#missing('ConfigMap', field, { name, key: '' }, data))
      return []
    }
    return (keys ?? data.keys).map((key) => {
      const source = { field: `${field}.keys`, words: [] }
      return [key, this.#configMapText(source, { name, key }) ?? ''] as const
    })
  }

  #checkSecret({ field }: ValueSource, ref: SecretKeyRef): void {
    const { name, key } = ref
    const data = this.#data.secret(name)
    if (!data?.get(key)) this.#unresolvedRefs.push(this.#missing('Secret', field, ref, data))
  }

  #configMapText({ field }: ValueSource, { name, key }: ConfigMapKeyRef): string | null {
    const data = this.#data.configMap(name)
    const text = data?.get(key)
    if (text) return text
    this.#unresolvedRefs.push(this.#missing('ConfigMap', field, { name, key }, data))
    return null
  }

  /** Describes a missing object, key or value. */
  #missing(
    kind: 'Secret' | 'ConfigMap',
    field: string,
    { name, key }: SecretKeyRef,
    data: KeyedData | null,
  ): UnresolvedRef {
    const what = `${kind} ${name}`
    const where = `in the namespace ${this.#namespace}`
    if (data === null)
      return { reason: `${kind}NotFound`, field, message: `there is no ${what} ${where}` }
    const why =
      data.get(key) === null ? `has no key ${key}` : `has an empty value under the key ${key}`
    return { reason: `${kind}KeyNotFound`, field, message: `the ${what} ${where} ${why}` }
  }
}

const namedFields = 3

/** Returns `a`, `a, b`, or `a, b, c and 29 more`. Duplicate fields count once. */
function fieldsText(all: readonly UnresolvedRef[]): string {
  const fields = [...new Set(all.map(({ field }) => field))]
  const named = fields.slice(0, namedFields).join(', ')
  return fields.length <= namedFields ? named : `${named} and ${fields.length - namedFields} more`
}

/** Returns the `tls` section of the config. Even an empty one enables optional TLS. */
export function tlsSection(source: ValueSource, tls: Tls, collector: ValueCollector): TlsEntry {
  const { ca, clientCertificate, serverName, insecureSkipVerify } = tls
  const at = (field: string, word: string): ValueSource => ({
    field: `${source.field}.${field}`,
    words: [...source.words, word],
  })
  const clientFile = (word: string, key: string): string | undefined =>
    clientCertificate &&
    collector.secretFile(at('clientCertificate', word), { name: clientCertificate.secretName, key })
  return {
    'ca-file': ca && collector.file(at('ca', 'ca'), ca),
    'cert-file': clientFile('cert', clientCertificate?.certificateKey ?? ''),
    'key-file': clientFile('key', clientCertificate?.privateKeyKey ?? ''),
    'server-name': serverName,
    'insecure-skip-verify': insecureSkipVerify || undefined,
  }
}
