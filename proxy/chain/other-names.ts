// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Prefixes of method names by prefixes under which the same methods are known as well. */
export type Aliases = ReadonlyMap<string, string>

/**
 * The other names of a method or path whose beginning has an alias, from either side:
 * `/sdk/bank/v1beta1/supply` and `/cosmos/bank/v1beta1/supply`.
 */
export function otherNames(name: string, aliases: Aliases): string[] {
  const names = [...aliases].flatMap(([prefix, alias]) => {
    const longer = alias.startsWith(prefix)
    if (name.startsWith(alias)) return [prefix + name.slice(alias.length)]
    // The root itself: `/` is `/v1`, not `/v1/`.
    if (name === prefix && longer) return [alias.replace(/\/$/, '')]
    return name.startsWith(prefix) ? [alias + name.slice(prefix.length)] : []
  })
  return [...new Set(names)].filter((other) => other !== name)
}
