// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { plainName } from '../../json/text.ts'

const nothing = new Uint8Array()

/** The names of members that are wanted, each with its quotes, found by how an answer spells them. */
export class WantedNames {
  readonly #written: ReadonlyMap<string, Buffer>
  /** The same names by the length of their usual spelling. */
  readonly #byLength: readonly (readonly string[])[]
  /** No spelling of any of them has as many bytes. */
  readonly mostBytes: number

  constructor(names: ReadonlySet<string>) {
    const quoted = [...names].map((name) => JSON.stringify(name))
    this.#written = new Map(quoted.map((name) => [name, Buffer.from(`${name}:`)]))
    const longest = Math.max(0, ...[...this.#written.values()].map(({ length }) => length))
    this.#byLength = Array.from({ length: longest }, (_, length) =>
      quoted.filter((name) => Buffer.byteLength(name) === length),
    )
    this.mostBytes = Math.max(0, ...quoted.map((name) => 6 * name.length))
  }

  /** What is written before the member's value. */
  written(name: string | null): Uint8Array {
    return this.#written.get(name ?? '') ?? nothing
  }

  /** The name that stands there in its usual spelling; null for one that is not wanted. */
  usual(bytes: Uint8Array, start: number, end: number): string | null {
    for (const name of this.#byLength[end - start] ?? []) {
      const wanted = this.#written.get(name) as Buffer
      let at = 1
      while (at < end - start && bytes[start + at] === wanted[at]) at++
      if (at === end - start) return name
    }
    return null
  }

  /** The same of a name in whatever spelling, with its quotes. */
  spelled(spelling: Uint8Array): string | null {
    const name = plainName(spelling, 0, spelling.length)
    return this.#written.has(name) ? name : null
  }
}
