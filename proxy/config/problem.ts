// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One thing that is wrong with a config file, placed and with its remedy. */
export interface Problem {
  /** An error keeps the router from starting; a warning does not. */
  readonly severity: 'error' | 'warning'
  /** The place in the document, e.g. `endpoints[0].chain-id`; empty for the file as a whole. */
  readonly path: string
  /** 1-based; null where the file has no such place. */
  readonly line: number | null
  readonly column: number | null
  /** What is wrong. Never holds a rendered placeholder. */
  readonly message: string
  /** What would be right, as a sentence; null when the message says it already. */
  readonly hint: string | null
}
