// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../../config/fields/upstream-auth.ts'
import { RelayError, errorKinds, type ErrorKind } from '../../relay/errors.ts'
import type { HeaderList } from '../../upstream/wire.ts'

/** Headers of one connection, of HTTP/2 itself, or of another server than the node. */
const ownToEachHop: ReadonlySet<string> = new Set([...hopByHop, 'host', 'te'])

/**
 * Headers with which clients commonly authenticate to the edge in front of the router, or to the
 * router's operator. A provider must not get them. (`proxy-authorization` belongs to the connection.)
 */
const credentials =
  /authorization|cookie|api-?key$|subscription-key$|^x-(?:.+-)?(?:access)?token$|jwt-assertion$|^x-amzn-oidc-|^cf-access-|^x-forwarded-client-cert$/

/**
 * A client's metadata for the node: all of it, since it belongs to the call, except the directives for
 * the router, the client's credentials, and its trace context, which each URL is sent or not by the config.
 * @param allowed what the spec lists, lower case
 */
export function metadataForNode(headers: HeaderList, allowed: ReadonlySet<string>): HeaderList {
  return filtered(headers, (name) => {
    if (name.startsWith('rpc-') || name === 'traceparent' || name === 'tracestate') return false
    return !credentials.test(name) || allowed.has(name)
  })
}

/** A node's metadata for the client. */
export function metadataForClient(headers: HeaderList): HeaderList {
  return filtered(headers, () => true)
}

function filtered(headers: HeaderList, isKept: (name: string) => boolean): HeaderList {
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (name.startsWith(':') || ownToEachHop.has(name) || !isKept(name)) continue
    // Space around a value is not part of it ("ASCII-Value" of gRPC over HTTP/2), and HTTP/2 forbids it.
    kept.push(name, (headers[at + 1] as string).trim())
  }
  return kept
}

const unitsMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/** `grpc-timeout` in milliseconds; null when absent. Several are refused: nodes differ in which one they use. */
export function readTimeout(headers: HeaderList): number | null | RelayError {
  const given = headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === 'grpc-timeout')
  if (given.length === 0) return null
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(given.join()) ?? []
  const unitMs = unitsMs[unit]
  if (unitMs !== undefined) return Number(digits) * unitMs
  return new RelayError(errorKinds.badGrpc, 'grpc-timeout must be one, such as 5S')
}

/** An error of the router as the status of a call; the reason comes before the message. */
export function statusOf({ kind, message }: { kind: ErrorKind; message: string }): HeaderList {
  const text = percentEncoded(`${kind.reason}: ${message}`)
  return ['grpc-status', String(kind.grpcStatus), 'grpc-message', text]
}

/** Printable ASCII stays as it is (gRPC over HTTP/2, "Status-Message"). */
function percentEncoded(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]+/gu, (part) => {
    const bytes = [...Buffer.from(part)]
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  })
}
