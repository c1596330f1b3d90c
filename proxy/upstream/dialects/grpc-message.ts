// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Before each message: a byte that tells whether it is compressed, and its length. */
const prefixBytes = 5

/** The one message of a body; null when there is another number of them, or it is compressed. */
export function soleMessage(body: Uint8Array): Uint8Array | null {
  if (body.length < prefixBytes || body[0] !== 0) return null
  const length = new DataView(body.buffer, body.byteOffset, body.length).getUint32(1)
  return body.length === prefixBytes + length ? body.subarray(prefixBytes) : null
}
