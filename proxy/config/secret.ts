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

  constructor(value: string, printable = '[redacted]') {
    this.#value = value
    this.#printable = printable
  }

  /** The value itself: for the wire, never for a message. */
  reveal(): string {
    return this.#value
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
