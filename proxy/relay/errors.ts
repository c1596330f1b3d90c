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
  methodNotFound: {
    code: 'RPC_METHOD_NOT_FOUND',
    reason: 'method-not-found',
    jsonRpcCode: -32601,
    httpStatus: 200,
    grpcStatus: 12,
    about:
      'No node can have such a method: its name is empty, or the path of a gRPC call is not `/package.Service/Method`. Or it subscribes, by the spec or by its name (`*_subscribe`, `*_subscribeNewHeads`), to what the router cannot share out. Any other method that the spec does not name is relayed.',
  },
  invalidParams: {
    code: 'RPC_INVALID_PARAMS',
    reason: 'invalid-params',
    jsonRpcCode: -32602,
    httpStatus: 200,
    grpcStatus: 3,
    about: 'The parameters of a request to subscribe or unsubscribe make no sense.',
  },
  noSuchSubscription: {
    code: 'RPC_NO_SUCH_SUBSCRIPTION',
    reason: 'no-such-subscription',
    jsonRpcCode: -32602,
    httpStatus: 200,
    grpcStatus: 5,
    about: 'The connection has no subscription of this id or query.',
  },
  alreadySubscribed: {
    code: 'RPC_ALREADY_SUBSCRIBED',
    reason: 'already-subscribed',
    jsonRpcCode: -32603,
    httpStatus: 200,
    grpcStatus: 6,
    about: 'The connection has a subscription to this query already. Tendermint RPC only.',
  },
  needsWebSocket: {
    code: 'RPC_NEEDS_WEBSOCKET',
    reason: 'needs-websocket',
    jsonRpcCode: -32601,
    httpStatus: 200,
    grpcStatus: 12,
    about:
      'The method opens or ends a subscription, and the request came by HTTP, where nobody can be told of anything later. Connect to the same address with `ws://`.',
  },
  tooManySubscriptions: {
    code: 'RPC_TOO_MANY_SUBSCRIPTIONS',
    reason: 'too-many-subscriptions',
    jsonRpcCode: -32005,
    httpStatus: 200,
    grpcStatus: 8,
    about:
      'The connection has as many subscriptions as `--websocket-max-subscriptions` allows. End one, or open another connection.',
  },
  badHttp: {
    code: 'RPC_BAD_HTTP',
    reason: 'bad-http',
    jsonRpcCode: -32600,
    httpStatus: 400,
    grpcStatus: 3,
    about:
      'What came on the connection is no HTTP request, one whose target has bytes that must be percent-encoded, or one in HTTP/1.1 without a `Host`. The connection is closed.',
  },
  noSuchPath: {
    code: 'RPC_NO_SUCH_PATH',
    reason: 'no-such-path',
    jsonRpcCode: -32600,
    httpStatus: 404,
    grpcStatus: 12,
    about: 'The listener serves other paths than this; the message names them.',
  },
  verbNotAllowed: {
    code: 'RPC_VERB_NOT_ALLOWED',
    reason: 'verb-not-allowed',
    jsonRpcCode: -32600,
    httpStatus: 405,
    grpcStatus: 12,
    about: 'The path exists, but not for this HTTP method; `Allow` names those that it takes.',
  },
  unsendable: {
    code: 'RPC_UNSENDABLE',
    reason: 'unsendable',
    jsonRpcCode: -32600,
    httpStatus: 400,
    grpcStatus: 3,
    about:
      'No node can be asked this: the target of the request is neither a path nor an `http://` URL, it has a `#` in it, its dot segments lead above the root, or a header cannot be written. Nothing was sent to an upstream.',
  },
  unsupportedDirective: {
    code: 'RPC_UNSUPPORTED_DIRECTIVE',
    reason: 'unsupported-directive',
    jsonRpcCode: -32600,
    httpStatus: 400,
    grpcStatus: 12,
    about:
      'A header of the request asks for what this version cannot do: `rpc-stickiness`, or one of `rpc-cross-validation-*`. Nothing was sent to an upstream.',
  },
  badGrpc: {
    code: 'RPC_BAD_GRPC',
    reason: 'bad-grpc',
    jsonRpcCode: -32600,
    httpStatus: 400,
    grpcStatus: 13,
    about:
      'The request breaks the rules of gRPC: it ends in the middle of a message, or has a `grpc-timeout` twice or one that is none.',
  },
  slowRequest: {
    code: 'RPC_SLOW_REQUEST',
    reason: 'slow-request',
    jsonRpcCode: -32600,
    httpStatus: 408,
    grpcStatus: 4,
    about: 'The client took too long to send its request. The connection is closed.',
  },
  unsupportedEncoding: {
    code: 'RPC_UNSUPPORTED_ENCODING',
    reason: 'unsupported-encoding',
    jsonRpcCode: -32600,
    httpStatus: 415,
    grpcStatus: 12,
    about: 'The request has a `Content-Encoding` other than gzip.',
  },
  unknownTransferCoding: {
    code: 'RPC_UNKNOWN_TRANSFER_CODING',
    reason: 'unknown-transfer-coding',
    jsonRpcCode: -32600,
    httpStatus: 501,
    grpcStatus: 12,
    about: 'The request has a `Transfer-Encoding` other than `chunked`.',
  },
  headersTooLarge: {
    code: 'RPC_HEADERS_TOO_LARGE',
    reason: 'headers-too-large',
    jsonRpcCode: -32600,
    httpStatus: 431,
    grpcStatus: 8,
    about:
      'The request line and headers are longer than 16 KiB, or the metadata of a gRPC call is. An HTTP/1.1 connection is closed.',
  },
  noUpstream: {
    code: 'RPC_NO_UPSTREAM',
    reason: 'no-upstream',
    jsonRpcCode: -32050,
    httpStatus: 503,
    grpcStatus: 14,
    about:
      'No upstream may serve this call: none is left that is up, has a session free, declares the add-on and is not excluded by a directive.',
  },
  rateLimited: {
    code: 'RPC_RATE_LIMITED',
    reason: 'rate-limited',
    jsonRpcCode: -32005,
    httpStatus: 429,
    grpcStatus: 8,
    about:
      'Every upstream that could serve this call is in cooldown: it answered 429, told of a spent quota, or gave a `Retry-After`. Nothing was sent; `Retry-After` says when the first of them is asked again.',
  },
  filterNotFound: {
    code: 'RPC_FILTER_NOT_FOUND',
    reason: 'filter-not-found',
    jsonRpcCode: -32000,
    httpStatus: 200,
    grpcStatus: 5,
    about:
      'The upstream that made the filter cannot be asked any more, and this replica did not make it, or cannot go on with it elsewhere. Make a new filter, as after the same error of a node: libraries do.',
  },
  breakerOpen: {
    code: 'RPC_BREAKER_OPEN',
    reason: 'breaker-open',
    jsonRpcCode: -32051,
    httpStatus: 503,
    grpcStatus: 14,
    about:
      'Two calls in a row found no upstream. Calls fail at once until an upstream may be asked again.',
  },
  upstreamFailed: {
    code: 'RPC_UPSTREAM_FAILED',
    reason: 'upstream-failed',
    jsonRpcCode: -32052,
    httpStatus: 502,
    grpcStatus: 14,
    about: 'Every attempt failed and no upstream gave an error of its own to pass on.',
  },
  integrity: {
    code: 'RPC_INTEGRITY',
    reason: 'integrity',
    jsonRpcCode: -32054,
    httpStatus: 502,
    grpcStatus: 14,
    about:
      'An upstream answered with what cannot be true, and no other one answered. The log has the evidence.',
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
  /** When it may be worth asking again; null: nobody knows. */
  readonly retryAfterMs: number | null

  constructor(
    kind: ErrorKind,
    message: string,
    options?: ErrorOptions & { readonly retryAfterMs?: number },
  ) {
    super(message, options)
    this.kind = kind
    this.retryAfterMs = options?.retryAfterMs ?? null
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

/** The call ended without a word of any upstream: they are gone, down, in cooldown, or hang. */
export function isUnanswered(error: unknown): error is RelayError {
  if (!(error instanceof RelayError)) return false
  const { noUpstream, rateLimited, upstreamFailed, timeout } = errorKinds
  return [noUpstream, rateLimited, upstreamFailed, timeout].includes(error.kind as never)
}
