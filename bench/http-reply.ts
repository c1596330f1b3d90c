// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export interface HttpReply {
  readonly status: number
  readonly body: Buffer
}

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/** Parses successive replies from the pieces of a connection, with lengths or chunks. */
export class ReplyCollector {
  #pieces: Buffer[] = []
  #length = 0
  /** Size of the whole reply; -1 for chunked replies; null before the end of the head. */
  #wanted: number | null = null

  /** @returns the reply that this piece completes, or null */
  push(piece: Buffer): HttpReply | null {
    this.#pieces.push(piece)
    this.#length += piece.length
    this.#wanted ??= this.#readHead()
    if (this.#wanted === null || this.#length < this.#wanted) return null
    if (this.#wanted < 0 && !this.#tail().endsWith(lastChunk.toString('latin1'))) return null
    const bytes = this.#joined()
    const bodyAt = bytes.indexOf(headEnd) + headEnd.length
    const status = Number(bytes.toString('latin1', 9, 12))
    const body = this.#wanted < 0 ? unchunked(bytes.subarray(bodyAt)) : bytes.subarray(bodyAt)
    this.#pieces = []
    this.#length = 0
    this.#wanted = null
    return { status, body }
  }

  #readHead(): number | null {
    const bytes = this.#joined()
    const at = bytes.indexOf(headEnd)
    if (at < 0) return null
    const head = bytes.toString('latin1', 0, at).toLowerCase()
    if (head.includes('transfer-encoding: chunked')) return -1
    return at + headEnd.length + Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0)
  }

  #tail(): string {
    const last = this.#pieces.at(-1) as Buffer
    const bytes = last.length < lastChunk.length ? this.#joined() : last
    return bytes.toString('latin1', bytes.length - lastChunk.length)
  }

  #joined(): Buffer {
    const [only] = this.#pieces
    if (this.#pieces.length > 1 || !only) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0] as Buffer
  }
}

function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) break
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 4 + size
  }
  return Buffer.concat(chunks)
}
