// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { inspect } from 'node:util'

/**
 * A value that must not be printed. Whatever turns it into text, be it a template, JSON, a logger
 * or a crash dump, gets the printable form; only `reveal()` gives the value.
 */
export class Secret {
  readonly #value: string
  readonly #printable: string
  readonly #parts: readonly string[]
  readonly #keys: readonly string[]

  constructor(
    value: string,
    printable = '[redacted]',
    parts: readonly string[] = [value],
    keys: readonly string[] = parts,
  ) {
    this.#value = value
    this.#printable = printable
    this.#parts = parts
    this.#keys = keys
  }

  /** The value itself: for the wire, never for a message. */
  reveal(): string {
    return this.#value
  }

  /** What gives it away: all of it or the keys in it. For what hides them in logs, never for a message. */
  parts(): readonly string[] {
    return this.#parts
  }

  /** The parts that are certainly keys, and no words that an answer may have. For what hides them there. */
  keys(): readonly string[] {
    return this.#keys
  }

  toString(): string {
    return this.#printable
  }

  toJSON(): string {
    return this.#printable
  }

  [inspect.custom](): string {
    return this.#printable
  }
}
