// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The parameters of a query with its `?`. Some servers take `;` for a separator, or a second `?` for none. */
const parameters = /[?&;][^?&;]*/g

/**
 * The names of parameters, to tell which of a client's a server might take for them. Servers differ in
 * what is the same name: the case, `api.key` for `api_key`, `key[]` for a further `key`. So only letters
 * and digits count, of the whole name or of what stands before a bracket, and whatever the encoding.
 */
export class QueryNames {
  readonly #names: ReadonlySet<string>

  /** @param query without its `?` */
  constructor(query: string) {
    this.#names = new Set((`?${query}`.match(parameters) ?? []).flatMap(namesOf).filter(Boolean))
  }

  /** A query without the parameters that have one of these names; what stays, stays as it was sent. */
  without(query: string): string {
    const isForeign = (parameter: string) =>
      !namesOf(parameter).some((name) => this.#names.has(name))
    return `?${query}`.replace(parameters, (each) => (isForeign(each) ? each : '')).slice(1)
  }
}

/** @param parameter with the separator before it */
function namesOf(parameter: string): readonly string[] {
  const [encoded = ''] = parameter.slice(1).split('=', 1)
  const name = encoded.includes('%') ? decoded(encoded) : encoded
  const [base = ''] = name.split(/[[\0]/, 1)
  return [significant(name), significant(base)]
}

/** Byte by byte, as broken encodings must not fail, and also where the encoding itself is encoded. */
function decoded(text: string): string {
  return text.replace(/%(?:25)*([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** The letters and digits, or all of a name that has none. */
function significant(name: string): string {
  return name.replace(/[\0-/:-@[-`{-\x7f]/g, '').toLowerCase() || name
}
