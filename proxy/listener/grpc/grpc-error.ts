// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ErrorKind } from '../../relay/errors.ts'
import type { HeaderList } from '../../upstream/wire.ts'

/** An error of the router's own as the status of a call; the reason stands before the message. */
export function grpcStatusOf(kind: ErrorKind, message: string): HeaderList {
  const text = `${kind.reason}: ${message}`
  return ['grpc-status', String(kind.grpcStatus), 'grpc-message', percentEncoded(text)]
}

/** Printable ASCII stays as it is (gRPC over HTTP/2, "Status-Message"). */
function percentEncoded(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]+/gu, (part) => {
    const bytes = [...Buffer.from(part)]
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  })
}
