// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Decoded data of one Secret or ConfigMap. */
export interface KeyedData {
  /** Uid of a Secret, known only to those who may read the Secret. */
  readonly uid?: string | undefined
  /** Keys of a ConfigMap; empty for a Secret, whose values are read only by key. */
  readonly keys: readonly string[]
  /** Returns a value; null if the key does not exist. */
  get(key: string): string | null
}

/** Data of the Secrets and ConfigMaps in one namespace. */
export interface ReferenceData {
  /** Returns a Secret; null if it does not exist. */
  secret(name: string): KeyedData | null
  /** Returns a ConfigMap; null if it does not exist. */
  configMap(name: string): KeyedData | null
}

/** One key of a Secret. */
export interface SecretKey {
  readonly name: string
  readonly key: string
}

/** A variable of the pods whose value stays in its Secret. */
export interface Variable {
  readonly name: string
  readonly secret: SecretKey
}

/** A file of the pods whose content stays in its Secret. */
export interface SecretFile {
  /** Path below `secretDirectory`. */
  readonly path: string
  readonly secret: SecretKey
}

/** Text from a user's ConfigMap, copied into ours so that a rollback restores it. */
export interface CopiedFile {
  /** Key in our ConfigMap, and file name below `configDirectory`. */
  readonly name: string
  readonly text: string
}

/** Secrets and ConfigMaps that pods need for part of the config. */
export interface RequiredRefs {
  readonly variables: readonly Variable[]
  readonly files: readonly SecretFile[]
  readonly copies: readonly CopiedFile[]
}

/** Data of a Secret: base64 from the API, or `stringData` in manifests. */
export interface SecretData {
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  /** Uid of the Secret; undefined in manifests. */
  readonly uid?: string | undefined
}

/** Reads the data of a Secret. It decodes each value on access. */
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

/** Reads the data of a ConfigMap. */
export function configMapData(data: Readonly<Record<string, string>> = {}): KeyedData {
  return {
    keys: Object.keys(data),
    get: (key) => (Object.hasOwn(data, key) ? (data[key] ?? null) : null),
  }
}

/** Placeholder for an unknown value, so that the rest of a config can be validated. */
export const standIn = 'value-that-is-not-known'

/** Returns the value of a Secret's key; null if it is missing or empty. */
export function valueOf({ name, key }: SecretKey, data: ReferenceData): string | null {
  return data.secret(name)?.get(key) || null
}

/** Returns the pods' environment. It contains secrets: only for the parser, never stored. */
export function environmentOf(
  all: readonly Pick<RequiredRefs, 'variables'>[],
  data: ReferenceData,
): Readonly<Record<string, string>> {
  const variables = all.flatMap((each) => each.variables)
  return Object.fromEntries(
    variables.map(({ name, secret }) => [name, valueOf(secret, data) ?? standIn]),
  )
}
