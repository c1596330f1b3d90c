// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../../config/fields/upstream-auth.ts'
import { RelayError, errorKinds, type ErrorKind } from '../../relay/errors.ts'
import type { HeaderList } from '../../upstream/wire.ts'

/** Hop-by-hop headers, HTTP/2 pseudo-headers, and headers addressed to the router's own host. */
const hopByHopNames: ReadonlySet<string> = new Set([...hopByHop, 'host', 'te'])

/**
 * Headers by which clients commonly authenticate to the edge in front of the router, or to its
 * operator. Providers must not see them. (`proxy-authorization` is hop-by-hop.)
 */
const credentials =
  /authorization|cookie|api-?key$|subscription-key$|^x-(?:.+-)?(?:access)?token$|jwt-assertion$|^x-amzn-oidc-|^cf-access-|^x-forwarded-client-cert$/

/**
 * Client metadata to forward to the node. Metadata belongs to the call, so it includes everything
 * except router directives, client credentials and the trace context, which the config controls per
 * URL.
 * @param allowed lower-case names from the spec
 */
export function metadataForNode(headers: HeaderList, allowed: ReadonlySet<string>): HeaderList {
  return filtered(headers, (name) => {
    if (name.startsWith('rpc-') || name === 'traceparent' || name === 'tracestate') return false
    return !credentials.test(name) || allowed.has(name)
  })
}

/** Node metadata to forward to the client. */
export function metadataForClient(headers: HeaderList): HeaderList {
  return filtered(headers, () => true)
}

function filtered(headers: HeaderList, isForwarded: (name: string) => boolean): HeaderList {
  const forwarded: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (name.startsWith(':') || hopByHopNames.has(name) || !isForwarded(name)) continue
    // HTTP/2 forbids space around a value ("ASCII-Value" in gRPC over HTTP/2).
    forwarded.push(name, (headers[at + 1] as string).trim())
  }
  return forwarded
}

const unitsMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/** `grpc-timeout` in ms; null if absent. Rejects duplicates, which nodes treat differently. */
export function readTimeout(headers: HeaderList): number | null | RelayError {
  const values = headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === 'grpc-timeout')
  if (values.length === 0) return null
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(values.join()) ?? []
  const unitMs = unitsMs[unit]
  if (unitMs !== undefined) return Number(digits) * unitMs
  return new RelayError(errorKinds.badGrpc, 'grpc-timeout must be a single value, such as 5S')
}

/** A router error as a gRPC status; the reason precedes the message. */
export function statusOf({ kind, message }: { kind: ErrorKind; message: string }): HeaderList {
  const text = percentEncoded(`${kind.reason}: ${message}`)
  return ['grpc-status', String(kind.grpcStatus), 'grpc-message', text]
}

/** Leaves printable ASCII unchanged (gRPC over HTTP/2, "Status-Message"). */
function percentEncoded(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent)
}
