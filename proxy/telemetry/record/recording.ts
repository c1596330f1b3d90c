// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'

/* A recording is JSON Lines: a `RecordingHead`, then a `RecordedCall` for each call. */

export const recordingVersion = 1

export interface RecordingHead {
  readonly recording: typeof recordingVersion
  readonly router: string
  readonly startedAt: string
}

/** Without keys. Of a body over 1 MiB its length alone; null: it streamed. */
export type RecordedBody =
  { readonly text: string } | { readonly base64: string } | { readonly bytes: number | null }

export interface RecordedCall {
  readonly at: string
  readonly chain: string
  readonly interface: ApiInterface
  /** `other` where the spec does not name it. */
  readonly method: string
  /** As in the metrics. */
  readonly outcome: string
  /** The class of an error that is the node's own answer, such as a revert. */
  readonly refusal: string | null
  /** Whose answer it was; null where no upstream was asked for it. */
  readonly upstream: string | null
  readonly totalMs: number
  /** As upstreams get it, without headers. Null, as is the answer: recorded without params. */
  readonly request: {
    readonly verb: string
    readonly path: string
    readonly body: RecordedBody | null
  } | null
  readonly answer: RecordedBody | null
}
