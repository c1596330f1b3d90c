// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ConfigMapKeyRef, SecretKeyRef, Tls, ValueFrom } from '../api/refs.ts'
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
import type { UnresolvedRef } from './translation.ts'

/**
 * A place in an object: the field, for messages, and stable words that name it, for variables and
 * files.
 */
export interface ValueSource {
  readonly field: string
  readonly words: readonly string[]
}

/**
 * Gathers what one object (a provider, or the router itself) needs from Secrets and ConfigMaps
 * while its part of the config is written. A value in a Secret becomes a variable or a mounted
 * file; a value in a ConfigMap is copied, since it is no secret and a rollback should find it
 * again.
 */
export class ValueCollector {
  readonly variables: Variable[] = []
  readonly files: SecretFile[] = []
  readonly copies: CopiedFile[] = []
  /** Of the variables. */
  readonly #names = new Set<string>()
  readonly #unresolvedRefs: UnresolvedRef[] = []
  readonly #data: ReferenceData

  constructor(data: ReferenceData) {
    this.#data = data
  }

  /** What is missing, each thing once, with the places that name it. */
  get unresolvedRefs(): readonly UnresolvedRef[] {
    const byMessage = Map.groupBy(this.#unresolvedRefs, ({ message }) => message)
    return [...byMessage.values()].flatMap((all) => {
      const [first] = all
      return first === undefined ? [] : [{ ...first, field: fieldsText(all) }]
    })
  }

  /** A value, as it is written into the config. */
  value(place: ValueSource, { secretKeyRef, configMapKeyRef }: ValueFrom): Piece {
    if (secretKeyRef !== undefined) return this.secretValue(place, secretKeyRef)
    if (configMapKeyRef === undefined) return { literal: '' }
    return { literal: this.#configMapText(place, configMapKeyRef) ?? standIn }
  }

  /** A value of a Secret, as it is written into the config. */
  secretValue(place: ValueSource, secret: SecretKeyRef): Piece {
    this.#checkSecret(place, secret)
    return this.ownSecretValue(secret)
  }

  /** The same of a Secret that the operator makes: that it does not exist yet is not reported. */
  ownSecretValue(secret: SecretKeyRef): Piece {
    const name = variableName([secret.name, secret.key])
    if (!this.#names.has(name)) {
      this.#names.add(name)
      this.variables.push({ name, secret })
    }
    return { variable: name }
  }

  /** A file, as its path is written into the config. */
  file(place: ValueSource, { secretKeyRef, configMapKeyRef }: ValueFrom): string {
    if (secretKeyRef !== undefined) return this.secretFile(place, secretKeyRef)
    if (configMapKeyRef === undefined) return ''
    const text = this.#configMapText(place, configMapKeyRef)
    return this.copiedFile(place, text ?? standIn, 'pem')
  }

  /** A file of a Secret, as its path is written into the config. */
  secretFile(place: ValueSource, secret: SecretKeyRef): string {
    const path = `${digest(place.words)}.pem`
    this.files.push({ path, secret })
    this.#checkSecret(place, secret)
    return `${secretDirectory}/${path}`
  }

  /** A file with this text, as its path is written into the config. */
  copiedFile(place: ValueSource, text: string, extension: string): string {
    const name = `${digest(place.words)}.${extension}`
    this.copies.push({ name, text })
    return `${configDirectory}/${name}`
  }

  /** Texts of a ConfigMap by key: of the keys that are named, or of all. */
  configMapTexts(
    field: string,
    name: string,
    keys: readonly string[] | undefined,
  ): readonly (readonly [key: string, text: string])[] {
    const data = this.#data.configMap(name)
    if (data === null) {
      this.#unresolvedRefs.push(missing('ConfigMap', field, name, '', data))
      return []
    }
    return (keys ?? data.keys).map((key) => {
      const place = { field: `${field}.keys`, words: [] }
      return [key, this.#configMapText(place, { name, key }) ?? ''] as const
    })
  }

  #checkSecret({ field }: ValueSource, { name, key }: SecretKeyRef): void {
    const data = this.#data.secret(name)
    if (!data?.get(key)) this.#unresolvedRefs.push(missing('Secret', field, name, key, data))
  }

  #configMapText({ field }: ValueSource, { name, key }: ConfigMapKeyRef): string | null {
    const data = this.#data.configMap(name)
    const text = data?.get(key)
    if (text) return text
    this.#unresolvedRefs.push(missing('ConfigMap', field, name, key, data))
    return null
  }
}

/** What a reference lacks: the object, its key, or a value under it. */
function missing(
  kind: 'Secret' | 'ConfigMap',
  field: string,
  name: string,
  key: string,
  data: KeyedData | null,
): UnresolvedRef {
  if (data === null)
    return { reason: `${kind}NotFound`, field, message: `there is no ${kind} ${name}` }
  const why =
    data.get(key) === null ? `has no key ${key}` : `has an empty value under the key ${key}`
  return { reason: `${kind}KeyNotFound`, field, message: `the ${kind} ${name} ${why}` }
}

const namedFields = 3

/** `a`, `a, b`, or `a, b, c and 29 more`. Certificate and key of one Secret are one place. */
function fieldsText(all: readonly UnresolvedRef[]): string {
  const fields = [...new Set(all.map(({ field }) => field))]
  const named = fields.slice(0, namedFields).join(', ')
  return fields.length <= namedFields ? named : `${named} and ${fields.length - namedFields} more`
}

/**
 * The `tls` section of the config. Empty when nothing is set, which still means TLS where it is
 * optional.
 */
export function tlsSection(place: ValueSource, tls: Tls, collector: ValueCollector): TlsEntry {
  const { ca, clientCertificate, serverName, insecureSkipVerify } = tls
  const at = (field: string, word: string): ValueSource => ({
    field: `${place.field}.${field}`,
    words: [...place.words, word],
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
