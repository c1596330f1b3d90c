// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** An error that the router itself returns to the client, in the codes of each interface. */
export interface ErrorKind {
  /** Stable code of the log and the documentation. */
  readonly code: string
  /** Stable word for programs: `data.reason` of the reply. */
  readonly reason: string
  readonly jsonRpcCode: number
  readonly httpStatus: number
  /** gRPC status code. */
  readonly grpcStatus: number
}

function kind(
  code: string,
  reason: string,
  jsonRpcCode: number,
  httpStatus: number,
  grpcStatus: number,
): ErrorKind {
  return { code, reason, jsonRpcCode, httpStatus, grpcStatus }
}

/** The one table of what the router can fail with; `scripts/generate/error-texts.ts` says when each happens. */
export const errorKinds = {
  parse: kind('RPC_PARSE', 'parse-error', -32700, 200, 3),
  invalidRequest: kind('RPC_INVALID_REQUEST', 'invalid-request', -32600, 200, 3),
  tooLarge: kind('RPC_TOO_LARGE', 'request-too-large', -32600, 413, 8),
  methodNotFound: kind('RPC_METHOD_NOT_FOUND', 'method-not-found', -32601, 200, 12),
  invalidParams: kind('RPC_INVALID_PARAMS', 'invalid-params', -32602, 200, 3),
  noSuchSubscription: kind('RPC_NO_SUCH_SUBSCRIPTION', 'no-such-subscription', -32602, 200, 5),
  alreadySubscribed: kind('RPC_ALREADY_SUBSCRIBED', 'already-subscribed', -32603, 200, 6),
  needsWebSocket: kind('RPC_NEEDS_WEBSOCKET', 'needs-websocket', -32601, 200, 12),
  tooManySubscriptions: kind(
    'RPC_TOO_MANY_SUBSCRIPTIONS',
    'too-many-subscriptions',
    -32005,
    200,
    8,
  ),
  badHttp: kind('RPC_BAD_HTTP', 'bad-http', -32600, 400, 3),
  noSuchPath: kind('RPC_NO_SUCH_PATH', 'no-such-path', -32600, 404, 12),
  verbNotAllowed: kind('RPC_VERB_NOT_ALLOWED', 'verb-not-allowed', -32600, 405, 12),
  unsendable: kind('RPC_UNSENDABLE', 'unsendable', -32600, 400, 3),
  badDirective: kind('RPC_BAD_DIRECTIVE', 'bad-directive', -32600, 400, 3),
  badGrpc: kind('RPC_BAD_GRPC', 'bad-grpc', -32600, 400, 13),
  slowRequest: kind('RPC_SLOW_REQUEST', 'slow-request', -32600, 408, 4),
  unsupportedEncoding: kind('RPC_UNSUPPORTED_ENCODING', 'unsupported-encoding', -32600, 415, 12),
  contentType: kind('RPC_CONTENT_TYPE', 'content-type', -32600, 415, 3),
  originNotAllowed: kind('RPC_ORIGIN_NOT_ALLOWED', 'origin-not-allowed', -32600, 403, 7),
  headersTooLarge: kind('RPC_HEADERS_TOO_LARGE', 'headers-too-large', -32600, 431, 8),
  noUpstream: kind('RPC_NO_UPSTREAM', 'no-upstream', -32050, 503, 14),
  rateLimited: kind('RPC_RATE_LIMITED', 'rate-limited', -32005, 429, 8),
  filterNotFound: kind('RPC_FILTER_NOT_FOUND', 'filter-not-found', -32000, 200, 5),
  overloaded: kind('RPC_OVERLOADED', 'overloaded', -32005, 503, 8),
  breakerOpen: kind('RPC_BREAKER_OPEN', 'breaker-open', -32051, 503, 14),
  upstreamFailed: kind('RPC_UPSTREAM_FAILED', 'upstream-failed', -32052, 502, 14),
  integrity: kind('RPC_INTEGRITY', 'integrity', -32054, 502, 14),
  noAgreement: kind('RPC_NO_AGREEMENT', 'no-agreement', -32055, 502, 14),
  insufficientResponses: kind(
    'RPC_INSUFFICIENT_RESPONSES',
    'insufficient-responses',
    -32055,
    502,
    14,
  ),
  diversityUnmet: kind('RPC_DIVERSITY_UNMET', 'diversity-unmet', -32055, 502, 14),
  groupQuorumUnmet: kind('RPC_GROUP_QUORUM_UNMET', 'group-quorum-unmet', -32055, 502, 14),
  insufficientCapacity: kind('RPC_INSUFFICIENT_CAPACITY', 'insufficient-capacity', -32055, 503, 14),
  insufficientCapacityAsked: kind(
    'RPC_INSUFFICIENT_CAPACITY_ASKED',
    'insufficient-capacity',
    -32055,
    400,
    3,
  ),
  insufficientGroups: kind('RPC_INSUFFICIENT_GROUPS', 'insufficient-groups', -32055, 503, 14),
  minBlock: kind('RPC_MIN_BLOCK', 'min-block', -32056, 503, 14),
  timeout: kind('RPC_TIMEOUT', 'timeout', -32053, 504, 4),
  sessionNode: kind('RPC_SESSION_NODE', 'session-node', -32057, 503, 14),
  sessionStore: kind('RPC_SESSION_STORE', 'session-store', -32058, 503, 14),
  internal: kind('RPC_INTERNAL', 'internal', -32603, 500, 13),
}

/** An expected failure of a call. The message goes to the client. */
export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly kind: ErrorKind
  /** After how long the client may ask again; null when unknown. */
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

/** The error for what would be more than the process may hold. */
export function overloaded(): RelayError {
  const message = 'the router holds as many bytes as it may; ask again in a second'
  return new RelayError(errorKinds.overloaded, message, { retryAfterMs: 1_000 })
}

/** The client left before it had its reply. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted'
  readonly code = 'RPC_ABORTED'

  constructor() {
    super('the call was aborted')
  }
}

/** The call ended without an answer of any upstream: none can be asked, or all fail, hang or are in cooldown. */
export function isUnanswered(error: unknown): error is RelayError {
  if (!(error instanceof RelayError)) return false
  const { noUpstream, rateLimited, upstreamFailed, timeout } = errorKinds
  return [noUpstream, rateLimited, upstreamFailed, timeout].includes(error.kind)
}
