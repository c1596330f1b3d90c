// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Of a call's metadata, names and values; more than this some nodes end the whole connection for. */
export const maxMetadataBytes = 16 * 1024

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
