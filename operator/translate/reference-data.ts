// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** The data of one Secret or ConfigMap, decoded. */
export interface KeyedData {
  /** Of a Secret of the API server: known to those alone who may read it. */
  readonly uid?: string | undefined
  /** Listed when they are asked for: there can be tens of thousands, and a value is looked up without. */
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
