// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The exit code of an interrupted program. */
export const interruptedExitCode = 130

/** A signal that aborts on SIGINT, SIGTERM and SIGHUP. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => interrupt.abort(new Error(`stopped by ${name}`)))
  return interrupt.signal
}

/** The message of an error and of its causes. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${wordsOf(error.cause)}`
}
