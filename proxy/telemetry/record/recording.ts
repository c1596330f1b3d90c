// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../../chain/types.ts'
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
  /** Why it is not sent again; null: it may be. */
  readonly leftOut: string | null
  /** As upstreams get it, without headers. Null, as is the answer: recorded without params, or not for being sent again. */
  readonly request: {
    readonly verb: string
    readonly path: string
    readonly body: RecordedBody | null
  } | null
  readonly answer: RecordedBody | null
}

const otherKinds = {
  write: 'a write',
  subscribe: 'a subscription',
  local: 'of the state of one node',
}

/** Nothing is sent again but what the spec calls a plain read. @returns why a call is not; null: it is */
export function whyNot({ known, kind, stateful, waitsForBlock }: Classification): string | null {
  if (!known) return 'the spec does not name it: it may be a write'
  if (kind !== 'read' || stateful !== null) return otherKinds[kind === 'read' ? 'local' : kind]
  return waitsForBlock ? 'waits for a block' : null
}
