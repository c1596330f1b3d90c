// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The flag byte and the length before each message. */
export const prefixBytes = 5

/** Follows the messages of one direction of a gRPC stream while their bytes pass. Copies nothing. */
export class GrpcFrames {
  /** Of the message that is passing, its prefix included. */
  #missing = 0
  readonly #prefix = Buffer.alloc(prefixBytes)
  #prefixLength = 0
  /** Messages that have passed whole. */
  count = 0
  /** The longest message that has been announced. */
  longestBytes = 0

  /** No message is in the middle. */
  get isWhole(): boolean {
    return this.#missing === 0 && this.#prefixLength === 0
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#missing > 0) {
        const taken = Math.min(this.#missing, chunk.length - at)
        this.#missing -= taken
        at += taken
        if (this.#missing === 0) this.count += 1
        continue
      }
      this.#prefix[this.#prefixLength++] = chunk[at++] as number
      if (this.#prefixLength < prefixBytes) continue
      this.#prefixLength = 0
      this.#missing = this.#prefix.readUInt32BE(1)
      this.longestBytes = Math.max(this.longestBytes, this.#missing)
      if (this.#missing === 0) this.count += 1
    }
  }
}
