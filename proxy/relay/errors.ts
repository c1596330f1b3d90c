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

function kind(
  code: string,
  reason: string,
  jsonRpcCode: number,
  httpStatus: number,
  grpcStatus: number,
  { about }: Pick<ErrorKind, 'about'>,
): ErrorKind {
  return { code, reason, jsonRpcCode, httpStatus, grpcStatus, about }
}

/** The one table of what the router can fail with. */
export const errorKinds = {
  parse: kind('RPC_PARSE', 'parse-error', -32700, 200, 3, {
    about: 'The request body is not JSON. Nothing was sent to an upstream.',
  }),
  invalidRequest: kind('RPC_INVALID_REQUEST', 'invalid-request', -32600, 200, 3, {
    about: 'The request is JSON, but not a JSON-RPC call. Nothing was sent to an upstream.',
  }),
  tooLarge: kind('RPC_TOO_LARGE', 'request-too-large', -32600, 413, 8, {
    about: 'The request body is longer than `--max-request-bytes`.',
  }),
  methodNotFound: kind('RPC_METHOD_NOT_FOUND', 'method-not-found', -32601, 200, 12, {
    about:
      'No node can have such a method: its name is empty, or the path of a gRPC call is not `/package.Service/Method`. Or it subscribes, by the spec or by its name (`*_subscribe`, `*_subscribeNewHeads`), to what the router cannot share out. Any other method that the spec does not name is relayed.',
  }),
  invalidParams: kind('RPC_INVALID_PARAMS', 'invalid-params', -32602, 200, 3, {
    about: 'The parameters of a request to subscribe or unsubscribe make no sense.',
  }),
  noSuchSubscription: kind('RPC_NO_SUCH_SUBSCRIPTION', 'no-such-subscription', -32602, 200, 5, {
    about: 'The connection has no subscription of this id or query.',
  }),
  alreadySubscribed: kind('RPC_ALREADY_SUBSCRIBED', 'already-subscribed', -32603, 200, 6, {
    about: 'The connection has a subscription to this query already. Tendermint RPC only.',
  }),
  needsWebSocket: kind('RPC_NEEDS_WEBSOCKET', 'needs-websocket', -32601, 200, 12, {
    about:
      'The method opens or ends a subscription, and the request came by HTTP, where nobody can be told of anything later. Connect to the same address with `ws://`.',
  }),
  tooManySubscriptions: kind(
    'RPC_TOO_MANY_SUBSCRIPTIONS',
    'too-many-subscriptions',
    -32005,
    200,
    8,
    {
      about:
        'The connection has as many subscriptions as `--websocket-max-subscriptions` allows. End one, or open another connection.',
    },
  ),
  badHttp: kind('RPC_BAD_HTTP', 'bad-http', -32600, 400, 3, {
    about:
      'What came on the connection is no HTTP request, one whose target has bytes that must be percent-encoded, or one in HTTP/1.1 without a `Host`. The connection is closed.',
  }),
  noSuchPath: kind('RPC_NO_SUCH_PATH', 'no-such-path', -32600, 404, 12, {
    about: 'The listener serves other paths than this; the message names them.',
  }),
  verbNotAllowed: kind('RPC_VERB_NOT_ALLOWED', 'verb-not-allowed', -32600, 405, 12, {
    about: 'The path exists, but not for this HTTP method; `Allow` names those that it takes.',
  }),
  unsendable: kind('RPC_UNSENDABLE', 'unsendable', -32600, 400, 3, {
    about:
      'No node can be asked this: the target of the request is neither a path nor an `http://` URL, it has a `#` in it, its path has a `..` segment, or a header cannot be written. Nothing was sent to an upstream.',
  }),
  unsupportedDirective: kind(
    'RPC_UNSUPPORTED_DIRECTIVE',
    'unsupported-directive',
    -32600,
    400,
    12,
    {
      about:
        'A header of the request asks for what this version cannot do: `rpc-stickiness`, or one of `rpc-cross-validation-*`. Nothing was sent to an upstream.',
    },
  ),
  badGrpc: kind('RPC_BAD_GRPC', 'bad-grpc', -32600, 400, 13, {
    about:
      'The request breaks the rules of gRPC: it ends in the middle of a message, or has a `grpc-timeout` twice or one that is none.',
  }),
  slowRequest: kind('RPC_SLOW_REQUEST', 'slow-request', -32600, 408, 4, {
    about: 'The client took too long to send its request. The connection is closed.',
  }),
  unsupportedEncoding: kind('RPC_UNSUPPORTED_ENCODING', 'unsupported-encoding', -32600, 415, 12, {
    about: 'The request has a `Content-Encoding` other than gzip.',
  }),
  unknownTransferCoding: kind(
    'RPC_UNKNOWN_TRANSFER_CODING',
    'unknown-transfer-coding',
    -32600,
    501,
    12,
    {
      about: 'The request has a `Transfer-Encoding` other than `chunked`.',
    },
  ),
  headersTooLarge: kind('RPC_HEADERS_TOO_LARGE', 'headers-too-large', -32600, 431, 8, {
    about:
      'The request line and headers are longer than 16 KiB, or the metadata of a gRPC call is. An HTTP/1.1 connection is closed.',
  }),
  noUpstream: kind('RPC_NO_UPSTREAM', 'no-upstream', -32050, 503, 14, {
    about:
      'No upstream may serve this call: none is left that is up, has a session free, declares the add-on and is not excluded by a directive.',
  }),
  rateLimited: kind('RPC_RATE_LIMITED', 'rate-limited', -32005, 429, 8, {
    about:
      'Every upstream that could serve this call is in cooldown: it answered 429, told of a spent quota, or gave a `Retry-After`. Nothing was sent; `Retry-After` says when the first of them is asked again.',
  }),
  filterNotFound: kind('RPC_FILTER_NOT_FOUND', 'filter-not-found', -32000, 200, 5, {
    about:
      'The upstream that made the filter cannot be asked any more, and this replica did not make it, or cannot go on with it elsewhere. Make a new filter, as after the same error of a node: libraries do.',
  }),
  breakerOpen: kind('RPC_BREAKER_OPEN', 'breaker-open', -32051, 503, 14, {
    about:
      'Two calls in a row found no upstream. Calls fail at once until an upstream may be asked again.',
  }),
  upstreamFailed: kind('RPC_UPSTREAM_FAILED', 'upstream-failed', -32052, 502, 14, {
    about: 'Every attempt failed and no upstream gave an error of its own to pass on.',
  }),
  integrity: kind('RPC_INTEGRITY', 'integrity', -32054, 502, 14, {
    about:
      'An upstream answered with what cannot be true, and no other one answered. The log has the evidence.',
  }),
  timeout: kind('RPC_TIMEOUT', 'timeout', -32053, 504, 4, {
    about: 'The call used up its whole relay budget, or its last attempt used up its own.',
  }),
  internal: kind('RPC_INTERNAL', 'internal', -32603, 500, 13, {
    about: 'A defect of the router. The log has the details under the same guid.',
  }),
}

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
  return [noUpstream, rateLimited, upstreamFailed, timeout].includes(error.kind)
}
