// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** @returns undefined when the bytes are not JSON */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString())
  } catch {
    return undefined
  }
}

/** Follows keys and indexes. @returns undefined when there is nothing at their end */
export function valueBelow(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root
  for (const key of path)
    value = (value as Record<string | number, unknown> | null | undefined)?.[key]
  return value
}
