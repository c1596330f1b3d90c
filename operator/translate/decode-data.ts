// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KeyedData } from './reference-data.ts'

/** The data of a Secret as the API gives it (base64) or as people may write it (`stringData`). */
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
    get keys() {
      return [...new Set([...Object.keys(data), ...Object.keys(stringData)])]
    },
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
    get keys() {
      return Object.keys(data)
    },
    get: (key) => (Object.hasOwn(data, key) ? (data[key] ?? null) : null),
  }
}
