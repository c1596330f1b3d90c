// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Whether a method matches one of the patterns, in which `*` matches any characters. */
export function matcher(patterns: readonly string[]): (method: string) => boolean {
  const all = patterns.map(matcherOf)
  return (method) => all.some((matches) => matches(method))
}

/** Clients choose the names, so this is linear in their length, unlike a regular expression. */
function matcherOf(pattern: string): (method: string) => boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return (method) => method === pattern
  return (method) => {
    const end = method.length - last.length
    if (!method.startsWith(first) || !method.endsWith(last)) return false
    let at = first.length
    for (const part of others) {
      const found = method.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= end
  }
}
