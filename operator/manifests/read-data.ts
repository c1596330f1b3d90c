// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isMap, type Json, type JsonMap } from '../admission/fault.ts'
import { configMapData, secretData } from '../translate/decode-data.ts'
import type { KeyedData } from '../translate/reference-data.ts'

/** The data of a Secret or ConfigMap in a manifest, or why the API server would not take it. */
export type ManifestData =
  { readonly data: KeyedData | null } | { readonly faults: readonly string[] }

/** Reads a Secret. One that SOPS encrypted has no data that is known here. No fault has a value in it. */
export function readSecret(document: JsonMap): ManifestData {
  if (isMap(document['sops'])) return { data: null }
  const encoded = textsOf('data', document['data'])
  const plain = textsOf('stringData', document['stringData'])
  const notBase64 = [...encoded.texts]
    .filter(([, text]) => !isBase64(text))
    .map(([key]) => `data.${key} is not base64: encode it, or write it as it is under stringData`)
  const faults = [...encoded.faults, ...plain.faults, ...notBase64]
  if (faults.length > 0) return { faults }
  const data = Object.fromEntries(encoded.texts)
  return { data: secretData({ data, stringData: Object.fromEntries(plain.texts) }) }
}

/** Reads a ConfigMap. */
export function readConfigMap(document: JsonMap): ManifestData {
  const { texts, faults } = textsOf('data', document['data'])
  return faults.length > 0 ? { faults } : { data: configMapData(Object.fromEntries(texts)) }
}

interface Texts {
  readonly texts: ReadonlyMap<string, string>
  readonly faults: readonly string[]
}

function textsOf(field: string, value: Json | undefined): Texts {
  const texts = new Map<string, string>()
  if (value === undefined || value === null) return { texts, faults: [] }
  if (!isMap(value)) return { texts, faults: [`${field} must be a map of keys to texts`] }
  const faults: string[] = []
  for (const [key, text] of Object.entries(value))
    if (typeof text === 'string' || text === null) texts.set(key, text ?? '')
    else faults.push(`${field}.${key} must be a text: put it in quotes`)
  return { texts, faults }
}

/** By the alphabet and the padding of RFC 4648; line breaks do not count. */
function isBase64(text: string): boolean {
  const joined = text.replace(/[\r\n]/g, '')
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined)
}
