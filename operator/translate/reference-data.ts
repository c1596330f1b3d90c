// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Decoded data of one Secret or ConfigMap. */
export interface KeyedData {
  /** Uid of a Secret, known only to those who may read it. */
  readonly uid?: string | undefined
  /** Keys of a ConfigMap; empty for a Secret, which is only read by key. */
  readonly keys: readonly string[]
  /** Returns a value; null if the key does not exist. */
  get(key: string): string | null
}

/** Data of the Secrets and ConfigMaps of one namespace. */
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

/** Variable of the pods whose value stays in its Secret. */
export interface Variable {
  readonly name: string
  readonly secret: SecretKey
}

/** File of the pods whose content stays in its Secret. */
export interface SecretFile {
  /** Path below `secretDirectory`. */
  readonly path: string
  readonly secret: SecretKey
}

/** Text of a user's ConfigMap, copied into ours so that a rollback restores it. */
export interface CopiedFile {
  /** Key in our ConfigMap, and file name below `configDirectory`. */
  readonly name: string
  readonly text: string
}

/** Secrets and ConfigMaps that pods need for a part of the config. */
export interface RequiredRefs {
  readonly variables: readonly Variable[]
  readonly files: readonly SecretFile[]
  readonly copies: readonly CopiedFile[]
}

/** Data of a Secret, in base64 from the API or as `stringData` in manifests. */
export interface SecretData {
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  /** Uid of the Secret; undefined in manifests. */
  readonly uid?: string | undefined
}

/** Reads the data of a Secret, decoding each value on access. */
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

/** Returns the environment of pods. It contains secrets: only for the parser, never stored. */
export function environmentOf(
  all: readonly Pick<RequiredRefs, 'variables'>[],
  data: ReferenceData,
): Readonly<Record<string, string>> {
  const variables = all.flatMap((each) => each.variables)
  return Object.fromEntries(
    variables.map(({ name, secret }) => [name, valueOf(secret, data) ?? standIn]),
  )
}
