// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * The params of a call in URI style, by name: `height="5"` and `height=5` both give `5`. Texts as
 * they stand otherwise; the node is what reads them in full.
 */
export function uriParams(query: string): Readonly<Record<string, string>> {
  const params: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of new URLSearchParams(query)) params[name] ??= unquoted(value)
  return params
}

function unquoted(value: string): string {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"')
  return isQuoted ? value.slice(1, -1) : value
}
