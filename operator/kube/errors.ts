// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A field that the API server refused. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** The `Status` object with which the API server refuses a request, in an answer or in a watch. */
export interface Status {
  readonly kind?: string
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: {
    /** The refused resource, in the plural. */
    readonly kind?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly StatusCause[]
  }
}

/** The authorizer's message, which names only the object. */
const missingRight =
  /^secrets (?:"[^"]*" )?is forbidden: User "[^"]*" cannot \w+ resource "secrets"/

/** Any failure of the API server or of the connection to it. `code` is stable. */
export abstract class KubeError extends Error {
  abstract readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The API server refused the request. */
export class ApiError extends KubeError {
  readonly code = 'OP_KUBE_API'
  /** The HTTP status, or the code of an error inside a watch. */
  readonly status: number
  /** Reason of the Status: `NotFound`, `Conflict`, `AlreadyExists`, `Expired`, `Invalid`, ... */
  readonly reason: string
  /** The refused fields, each with a reason. */
  readonly causes: readonly StatusCause[]
  /** The refused resource, in the plural; null if the server does not say. */
  readonly kind: string | null
  /** The delay that the server asks for; null if none. */
  readonly retryAfterMs: number | null

  constructor(request: string, status: number, body: Status, retryAfterMs: number | null = null) {
    const reason = body.reason || `HTTP ${status}`
    // A message about a Secret may quote its data, but not the one about a missing right.
    const isSecret = /\/secrets(\/|$)/.test(request) && !missingRight.test(body.message ?? '')
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

/** The connection failed, so it is unknown whether the request took effect. */
export class ConnectionError extends KubeError {
  readonly code = 'OP_KUBE_CONNECTION'
}

/** The request timed out, so it is unknown whether it took effect. */
export class TimeoutError extends KubeError {
  readonly code = 'OP_KUBE_TIMEOUT'
}

/** The answer does not come from an API server: truncated JSON, a proxy's page. */
export class MalformedAnswerError extends KubeError {
  readonly code = 'OP_KUBE_MALFORMED'
}

function hasStatus(error: unknown, ...statuses: readonly number[]): error is ApiError {
  return error instanceof ApiError && statuses.includes(error.status)
}

export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404)
/** The kind does not exist, or is being removed and takes no new objects. */
export const isUnknownKind = (error: unknown): error is ApiError => hasStatus(error, 404, 405)
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403)
/** The namespace is being deleted or is gone, so no object can be created in it. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  (isForbidden(error) && error.causes.some(({ reason }) => reason === 'NamespaceTerminating')) ||
  (isNotFound(error) && error.kind === 'namespaces')

/** Another client wrote first, or owns a field. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists'

/** The server has compacted the version, or has not reached it. The client must list again. */
export const isExpired = (error: unknown): error is ApiError =>
  hasStatus(error, 410) ||
  (error instanceof ApiError &&
    error.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge'))
