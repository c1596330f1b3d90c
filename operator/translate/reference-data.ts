// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The data of one Secret or ConfigMap, decoded. */
export interface KeyedData {
  /** Of a Secret of the API server: known only with the right to read it. */
  readonly uid?: string | undefined
  /** Of a ConfigMap; of a Secret nothing is asked but by its key. */
  readonly keys: readonly string[]
  /** Null when there is no such key. */
  get(key: string): string | null
}

/** What the Secrets and ConfigMaps of one namespace hold. */
export interface ReferenceData {
  /** Null when there is no such Secret. */
  secret(name: string): KeyedData | null
  /** Null when there is no such ConfigMap. */
  configMap(name: string): KeyedData | null
}

/** One key of a Secret. */
export interface SecretKey {
  readonly name: string
  readonly key: string
}

/** An environment variable of the pods, whose value stays in its Secret. */
export interface Variable {
  readonly name: string
  readonly secret: SecretKey
}

/** A file of the pods whose text stays in its Secret. */
export interface SecretFile {
  /** Below `secretDirectory`. */
  readonly path: string
  readonly secret: SecretKey
}

/** A text of a ConfigMap of the user's that is copied into ours, so that a rollback gets it back as it was. */
export interface CopiedFile {
  /** The key in our ConfigMap, and the name of the file below `configDirectory`. */
  readonly name: string
  readonly text: string
}

/** What pods need of Secrets and ConfigMaps for a part of the config. */
export interface Needs {
  readonly variables: readonly Variable[]
  readonly files: readonly SecretFile[]
  readonly copies: readonly CopiedFile[]
}

/** The data of a Secret as the API gives it (base64) or as users may write it (`stringData`). */
export interface SecretData {
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  /** Of the Secret; undefined when it does not come from the API server. */
  readonly uid?: string | undefined
}

/** Reads a Secret's data, decoding a value only when it is asked for. */
export function secretData({ data = {}, stringData = {}, uid }: SecretData): KeyedData {
  return {
    uid,
    keys: [],
    get(key) {
      if (Object.hasOwn(stringData, key)) return stringData[key] ?? null
      const encoded = Object.hasOwn(data, key) ? data[key] : undefined
      return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString()
    },
  }
}

/** Reads a ConfigMap's data. */
export function configMapData(data: Readonly<Record<string, string>> = {}): KeyedData {
  return {
    keys: Object.keys(data),
    get: (key) => (Object.hasOwn(data, key) ? (data[key] ?? null) : null),
  }
}

/** Replaces a value that is not known, so that the rest of a config can be judged all the same. */
export const standIn = 'value-that-is-not-known'

/** The value of a key of a Secret; null when it is missing or empty. */
export function valueOf({ name, key }: SecretKey, data: ReferenceData): string | null {
  return data.secret(name)?.get(key) || null
}

/** What pods would have in their environment. Holds secrets: for the router's parser, and for nothing that is kept. */
export function environmentOf(
  parts: readonly Pick<Needs, 'variables'>[],
  data: ReferenceData,
): Readonly<Record<string, string>> {
  const variables = parts.flatMap((part) => part.variables)
  return Object.fromEntries(
    variables.map(({ name, secret }) => [name, valueOf(secret, data) ?? standIn]),
  )
}
