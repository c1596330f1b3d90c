// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** One thing that is wrong with a chain spec, placed and with its remedy. */
export interface SpecProblem {
  /** Path, URL, or place in an archive. Never holds a URL's user, password or query. */
  readonly file: string
  /** 1-based; null where the file has no such place. */
  readonly line: number | null
  /** The place in the document, e.g. `interfaces.jsonrpc.methods.eth_call.cost`; may be empty. */
  readonly path: string
  readonly message: string
  /** What would be right, as a sentence; null when the message says it already. */
  readonly hint: string | null
}

/** Chain specs that cannot be used: all problems of all files. */
export class SpecError extends Error {
  override readonly name = 'SpecError'
  readonly code = 'RPC_SPEC'
  readonly problems: readonly SpecProblem[]

  constructor(problems: readonly SpecProblem[], options?: ErrorOptions) {
    super(problems.map(describe).join('\n'), options)
    this.problems = problems
  }
}

function describe({ file, line, path, message, hint }: SpecProblem): string {
  const place = `${file}${line === null ? '' : `:${line}`}: ${path === '' ? '' : `${path}: `}`
  return `${place}${message}${hint === null ? '' : ` ${hint}`}`
}

/** A problem of a file as a whole. */
export function fileProblem(
  file: string,
  message: string,
  hint: string | null = null,
): SpecProblem {
  return { file, line: null, path: '', message, hint }
}
