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
