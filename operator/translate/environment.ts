// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ReferenceData, SecretFile, SecretKey, Variable } from './reference-data.ts'

/** What stands for a value that is missing, so that the rest of a config can be judged all the same. */
export const standIn = 'missing'

/** The value of a key of a Secret; null when it is missing or empty. */
export function valueOf({ name, key }: SecretKey, data: ReferenceData): string | null {
  return data.secret(name)?.get(key) || null
}

/** What pods would have in their environment. Holds secrets: for the router's parser, and for nothing that is kept. */
export function environmentOf(
  parts: readonly { readonly variables: readonly Variable[] }[],
  data: ReferenceData,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    parts.flatMap(({ variables }) =>
      variables.map(({ name, secret }) => [name, valueOf(secret, data) ?? standIn] as const),
    ),
  )
}

/** Every value of a Secret that pods get, by the name of its variable or the path of its file. */
export function secretValues(
  variables: readonly Variable[],
  files: readonly SecretFile[],
  data: ReferenceData,
): readonly (readonly [place: string, value: string])[] {
  return [
    ...variables.map(({ name, secret }) => [name, valueOf(secret, data) ?? ''] as const),
    ...files.map(({ path, secret }) => [path, valueOf(secret, data) ?? ''] as const),
  ]
}
