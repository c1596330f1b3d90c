// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { header, type Incoming } from '../wire.ts'

export interface GrpcStatus {
  /** 0 to 16. */
  readonly code: number
  /** Decoded; may be empty. */
  readonly message: string
}

/**
 * The outcome of a gRPC call whose body has been read: from the trailers, or from the headers when
 * there is nothing else ("trailers only"). Null when the answer tells none.
 */
export function readStatus(answer: Pick<Incoming, 'headers' | 'trailers'>): GrpcStatus | null {
  const trailers = answer.trailers()
  const from = header(trailers, 'grpc-status') === null ? answer.headers : trailers
  const code = header(from, 'grpc-status')
  if (code === null || !/^\d{1,2}$/.test(code)) return null
  return { code: Number(code), message: percentDecoded(header(from, 'grpc-message') ?? '') }
}

/** What cannot be decoded stays as it was sent. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
