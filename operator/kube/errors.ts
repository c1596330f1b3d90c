// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One field that the API server refused. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** The `Status` object with which the API server refuses, in an answer or in a watch. */
export interface Status {
  readonly kind?: string
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: {
    /** Of what it is about, in the plural. */
    readonly kind?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly StatusCause[]
  }
}

/** Any failure of the connection to the API server, or of the server. `code` is stable. */
export abstract class KubeError extends Error {
  abstract readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The API server answered, and refused. */
export class ApiError extends KubeError {
  readonly code = 'OP_KUBE_API'
  /** The HTTP status, or the code of an error inside a watch. */
  readonly status: number
  /** Kubernetes' own word: `NotFound`, `Conflict`, `AlreadyExists`, `Expired`, `Invalid`, `Forbidden`, ... */
  readonly reason: string
  /** Which fields were refused and why. */
  readonly causes: readonly StatusCause[]
  /** What was refused, in the plural; null where the server does not say. */
  readonly kind: string | null
  /** The delay that the server asks for; null for none. */
  readonly retryAfterMs: number | null

  constructor(request: string, status: number, body: Status, retryAfterMs: number | null = null) {
    const reason = body.reason || `HTTP ${status}`
    // A message about a Secret may quote it.
    const isSecret = /\/secrets(\/|$)/.test(request)
    const message = isSecret ? '' : (body.message ?? '')
    super(`${request}: ${reason}${message && `: ${message}`}`)
    this.status = status
    this.reason = reason
    this.kind = body.details?.kind ?? null
    const causes = body.details?.causes ?? []
    this.causes = isSecret ? causes.map(({ reason = '' }) => ({ reason })) : causes
    const seconds = body.details?.retryAfterSeconds
    this.retryAfterMs = retryAfterMs ?? (seconds === undefined ? null : seconds * 1000)
  }
}

/** No connection, or it broke: whether the request took effect is unknown. */
export class ConnectionError extends KubeError {
  readonly code = 'OP_KUBE_CONNECTION'
}

/** No answer in time: whether the request took effect is unknown. */
export class TimeoutError extends KubeError {
  readonly code = 'OP_KUBE_TIMEOUT'
}

/** The answer is not one of the API server: cut JSON, a proxy's page. */
export class MalformedAnswerError extends KubeError {
  readonly code = 'OP_KUBE_MALFORMED'
}

function hasStatus(error: unknown, ...statuses: readonly number[]): error is ApiError {
  return error instanceof ApiError && statuses.includes(error.status)
}

export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404)
/** There is no such kind, or it is being removed and takes no new object. */
export const isUnknownKind = (error: unknown): error is ApiError => hasStatus(error, 404, 405)
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403)
/** Its namespace is being deleted, or is gone: nothing can be created there, and the rest is deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  (isForbidden(error) && error.causes.some(({ reason }) => reason === 'NamespaceTerminating')) ||
  (isNotFound(error) && error.kind === 'namespaces')

/** Another client wrote first, or owns a field. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists'

/** The version asked for is no longer known, or not known yet: only a new list helps. */
export const isExpired = (error: unknown): error is ApiError =>
  hasStatus(error, 410) ||
  (error instanceof ApiError &&
    error.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge'))
