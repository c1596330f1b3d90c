// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Where a command writes. `process.stdout` is one. */
export interface TextSink {
  write(text: string): unknown
}

/** What a command has of the outer world. */
export interface CommandIo {
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: TextSink
  readonly stderr: TextSink
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What the process tells its caller when it ends. The same numbers as the router's. */
export const exitCodes = {
  /** Done; a stopped operator gave its lease back. */
  done: 0,
  /** It could not do its work: no cluster in reach, an address is taken, the lease was lost. */
  failed: 1,
  /** The command line or the manifests cannot be used as they are. */
  invalid: 2,
} as const
