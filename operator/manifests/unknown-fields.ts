// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Fields of what was read that are not in what the schema made of it: the API server would drop or refuse them. */
export function unknownFields(read: unknown, known: unknown): readonly string[] {
  const { metadata: _, status: __, ...rest } = read as Readonly<Record<string, unknown>>
  return compare(rest, known, '')
}

function compare(read: unknown, known: unknown, path: string): readonly string[] {
  if (Array.isArray(read))
    return read.flatMap((item, index) =>
      compare(item, (known as readonly unknown[])[index], `${path}[${index}]`),
    )
  if (typeof read !== 'object' || read === null) return []
  const fields = (known ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(read).flatMap(([key, value]) => {
    const place = path === '' ? key : `${path}.${key}`
    return key in fields ? compare(value, fields[key], place) : [place]
  })
}
