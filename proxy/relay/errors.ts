// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A failure that the router itself tells the client, in the terms of each interface. */
export interface ErrorKind {
  /** Stable code of the log and the documentation. */
  readonly code: string
  /** Stable word for programs: `data.reason` of the reply. */
  readonly reason: string
  readonly jsonRpcCode: number
  readonly httpStatus: number
  /** gRPC status code. */
  readonly grpcStatus: number
  /** When it happens and what to do, for `docs/reference/errors.md`. */
  readonly about: string
}

/** The one table of what the router can fail with. */
export const errorKinds = {
  parse: {
    code: 'RPC_PARSE',
    reason: 'parse-error',
    jsonRpcCode: -32700,
    httpStatus: 200,
    grpcStatus: 3,
    about: 'The request body is not JSON. Nothing was sent to an upstream.',
  },
  invalidRequest: {
    code: 'RPC_INVALID_REQUEST',
    reason: 'invalid-request',
    jsonRpcCode: -32600,
    httpStatus: 200,
    grpcStatus: 3,
    about: 'The request is JSON, but not a JSON-RPC call. Nothing was sent to an upstream.',
  },
  tooLarge: {
    code: 'RPC_TOO_LARGE',
    reason: 'request-too-large',
    jsonRpcCode: -32600,
    httpStatus: 413,
    grpcStatus: 8,
    about: 'The request body is longer than `--max-request-bytes`.',
  },
  noUpstream: {
    code: 'RPC_NO_UPSTREAM',
    reason: 'no-upstream',
    jsonRpcCode: -32050,
    httpStatus: 503,
    grpcStatus: 14,
    about:
      'No upstream may serve this call: none is left that is up, declares the add-on and is not excluded by a directive.',
  },
  breakerOpen: {
    code: 'RPC_BREAKER_OPEN',
    reason: 'breaker-open',
    jsonRpcCode: -32051,
    httpStatus: 503,
    grpcStatus: 14,
    about:
      'Two calls in a row found no upstream. Calls fail at once until an upstream is eligible again.',
  },
  upstreamFailed: {
    code: 'RPC_UPSTREAM_FAILED',
    reason: 'upstream-failed',
    jsonRpcCode: -32052,
    httpStatus: 502,
    grpcStatus: 14,
    about: 'Every attempt failed and no upstream gave an error of its own to pass on.',
  },
  timeout: {
    code: 'RPC_TIMEOUT',
    reason: 'timeout',
    jsonRpcCode: -32053,
    httpStatus: 504,
    grpcStatus: 4,
    about: 'The call used up its whole relay budget, or its last attempt used up its own.',
  },
  internal: {
    code: 'RPC_INTERNAL',
    reason: 'internal',
    jsonRpcCode: -32603,
    httpStatus: 500,
    grpcStatus: 13,
    about: 'A defect of the router. The log has the details under the same guid.',
  },
} as const satisfies Record<string, ErrorKind>

/** An expected failure of a call. The message goes to the client. */
export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly kind: ErrorKind

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** Nobody waits for the reply any more: the client left, or another attempt won. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted'
  readonly code = 'RPC_ABORTED'

  constructor() {
    super('the call was taken back')
  }
}
