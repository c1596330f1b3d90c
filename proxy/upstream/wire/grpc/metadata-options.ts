// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { HeaderList } from '../../wire.ts'

/** Of a call's metadata, names and values; more than this some nodes end the whole connection for. */
export const maxMetadataBytes = 16 * 1024

/** Of their size in HTTP/2; common servers refuse some of 8 KiB, and may be told to be stricter. */
const largeListBytes = 4 * 1024

/** Whether metadata may be more than a server takes: by its bytes and its entries (RFC 9113, 6.5.2). */
export function isLargeMetadata(headers: HeaderList): boolean {
  const bytes = headers.reduce((sum, { length }) => sum + length, 0)
  return bytes + 16 * headers.length > largeListBytes
}

/**
 * How a session of Node takes and gives metadata: as it is, so that it is no reason to fail, and to
 * blame a node. It is bounded by its bytes alone: an entry has one at least, and room for more than
 * that much is made for it on the wire.
 */
export const metadataOptions = {
  maxHeaderListPairs: maxMetadataBytes,
  maxSendHeaderBlockLength: 16 * maxMetadataBytes,
  // Space around a value: it is taken off, where the whole entry would go.
  strictFieldWhitespaceValidation: false,
  // A name that comes twice where HTTP wants it once.
  strictSingleValueFields: false,
}
