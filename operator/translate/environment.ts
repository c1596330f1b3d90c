// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ReferenceData, SecretKey, Variable } from './reference-data.ts'

/** What stands for a value that is not known, so that the rest of a config can be judged all the same. */
export const standIn = 'value-that-is-not-known'

/** The value of a key of a Secret; null when it is missing or empty. */
export function valueOf({ name, key }: SecretKey, data: ReferenceData): string | null {
  return data.secret(name)?.get(key) || null
}

/** What pods would have in their environment. Holds secrets: for the router's parser, and for nothing that is kept. */
export function environmentOf(
  parts: readonly { readonly variables: readonly Variable[] }[],
  data: ReferenceData,
): Readonly<Record<string, string>> {
  const variables = parts.flatMap((part) => part.variables)
  return Object.fromEntries(
    variables.map(({ name, secret }) => [name, valueOf(secret, data) ?? standIn]),
  )
}
