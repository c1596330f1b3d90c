// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** An error that the router itself returns to the client, in the codes of each interface. */
export interface ErrorKind {
  /** Stable code for logs and documentation. */
  readonly code: string
  /** Stable, machine-readable `data.reason` of the reply. */
  readonly reason: string
  readonly jsonRpcCode: number
  readonly httpStatus: number
  /** HTTP status of REST, whose errors have one of at least 400. */
  readonly restStatus: number
  /** gRPC status code. */
  readonly grpcStatus: number
}

/** @param code by default `RPC_` and the reason in upper case */
function kind(
  reason: string,
  jsonRpcCode: number,
  httpStatus: number,
  grpcStatus: number,
  code = `RPC_${reason.toUpperCase().replaceAll('-', '_')}`,
  restStatus = Math.max(httpStatus, 400),
): ErrorKind {
  return { code, reason, jsonRpcCode, httpStatus, restStatus, grpcStatus }
}

/** All errors of the router; `scripts/reference/errors.yml` describes when each one occurs. */
export const errorKinds = {
  parse: kind('parse-error', -32700, 200, 3, 'RPC_PARSE'),
  invalidRequest: kind('invalid-request', -32600, 200, 3),
  tooLarge: kind('request-too-large', -32600, 413, 8, 'RPC_TOO_LARGE'),
  methodNotFound: kind('method-not-found', -32601, 200, 12),
  methodDenied: kind('method-denied', -32601, 200, 7, undefined, 403),
  addonNotDeclared: kind('addon-not-declared', -32601, 200, 12, undefined, 404),
  invalidParams: kind('invalid-params', -32602, 200, 3),
  noSuchSubscription: kind('no-such-subscription', -32602, 200, 5),
  alreadySubscribed: kind('already-subscribed', -32603, 200, 6),
  needsWebSocket: kind('needs-websocket', -32601, 200, 12),
  logsRange: kind('logs-range', -32005, 200, 8),
  tooManySubscriptions: kind('too-many-subscriptions', -32005, 200, 8),
  badHttp: kind('bad-http', -32600, 400, 3),
  noSuchPath: kind('no-such-path', -32600, 404, 12),
  verbNotAllowed: kind('verb-not-allowed', -32600, 405, 12),
  unsendable: kind('unsendable', -32600, 400, 3),
  badDirective: kind('bad-directive', -32600, 400, 3),
  badGrpc: kind('bad-grpc', -32600, 400, 13),
  slowRequest: kind('slow-request', -32600, 408, 4),
  unsupportedEncoding: kind('unsupported-encoding', -32600, 415, 12),
  contentType: kind('content-type', -32600, 415, 3),
  originNotAllowed: kind('origin-not-allowed', -32600, 403, 7),
  headersTooLarge: kind('headers-too-large', -32600, 431, 8),
  noUpstream: kind('no-upstream', -32050, 503, 14),
  rateLimited: kind('rate-limited', -32005, 429, 8),
  filterNotFound: kind('filter-not-found', -32000, 200, 5),
  overloaded: kind('overloaded', -32005, 503, 8),
  breakerOpen: kind('breaker-open', -32051, 503, 14),
  upstreamFailed: kind('upstream-failed', -32052, 502, 14),
  integrity: kind('integrity', -32054, 502, 14),
  noAgreement: kind('no-agreement', -32055, 502, 14),
  insufficientResponses: kind('insufficient-responses', -32055, 502, 14),
  diversityUnmet: kind('diversity-unmet', -32055, 502, 14),
  groupQuorumUnmet: kind('group-quorum-unmet', -32055, 502, 14),
  insufficientCapacity: kind('insufficient-capacity', -32055, 503, 14),
  insufficientCapacityAsked: kind(
    'insufficient-capacity',
    -32055,
    400,
    3,
    'RPC_INSUFFICIENT_CAPACITY_ASKED',
  ),
  insufficientGroups: kind('insufficient-groups', -32055, 503, 14),
  minBlock: kind('min-block', -32056, 503, 14),
  timeout: kind('timeout', -32053, 504, 4),
  sessionNode: kind('session-node', -32057, 503, 14),
  sessionStore: kind('session-store', -32058, 503, 14),
  internal: kind('internal', -32603, 500, 13),
}

/** Errors that blame the caller: all but those for which a client should retry later. */
export const callersKinds: ReadonlySet<ErrorKind> = new Set(
  Object.values(errorKinds).filter((each) => each.httpStatus < 500 && each.httpStatus !== 429),
)

/** Expected failure of a call. The client gets the message. */
export class RelayError extends Error {
  override readonly name = 'RelayError'
  readonly kind: ErrorKind
  /** Time after which the client may retry; null if unknown. */
  readonly retryAfterMs: number | null
  /** The request itself is at fault, so the error is no failure of the service. */
  readonly isCallersFault: boolean

  constructor(
    kind: ErrorKind,
    message: string,
    options?: ErrorOptions & { readonly retryAfterMs?: number; readonly isCallersFault?: boolean },
  ) {
    super(message, options)
    this.kind = kind
    this.retryAfterMs = options?.retryAfterMs ?? null
    this.isCallersFault = options?.isCallersFault ?? callersKinds.has(kind)
  }
}

/** The error for a request that would exceed the memory budget of the process. */
export function overloaded(): RelayError {
  const message = 'the memory budget of the router is used up; retry in a second'
  return new RelayError(errorKinds.overloaded, message, { retryAfterMs: 1_000 })
}

/** The client disconnected before the reply. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted'
  readonly code = 'RPC_ABORTED'

  constructor() {
    super('the call was aborted')
  }
}

/** Whether no upstream answered: all are unavailable, failed, timed out or are in cooldown. */
export function isUnanswered(error: unknown): error is RelayError {
  if (!(error instanceof RelayError)) return false
  const { noUpstream, rateLimited, upstreamFailed, timeout } = errorKinds
  return [noUpstream, rateLimited, upstreamFailed, timeout].includes(error.kind)
}
