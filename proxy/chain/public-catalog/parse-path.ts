// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Splits `.result.records[0].sequence` or `.params.[0]` into keys and indexes. */
export function parsePath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d{1,9})\]|[^.[\]]+/g)].map(([text, index]) =>
    index === undefined ? text : Number(index),
  )
}
