// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type Socket } from 'node:net'

export const frameType = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7 } as const
const continuation = 9
const windowUpdate = 8
const priority = 2
/** HTTP/2 flags; their meaning depends on the frame type. */
const flags = { endStream: 1, endHeaders: 4 } as const

/** One HTTP/2 frame (RFC 9113, 4.1). */
export function frame(
  type: number,
  flag: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
) {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flag
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function fields(...entries: (readonly [name: string, value: string])[]): Buffer {
  const text = (each: string) => Buffer.concat([Buffer.from([each.length]), Buffer.from(each)])
  // Literals without indexing (RFC 7541, 6.2.2).
  return Buffer.concat(
    entries.flatMap(([name, value]) => [Buffer.alloc(1), text(name), text(value)]),
  )
}

const callFields = fields(
  ...([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', '/a.B/C'],
    [':authority', 'x'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ] as const),
)

/** Opens a call and leaves its request open. */
export function openCall(stream: number): Buffer {
  return frame(frameType.headers, flags.endHeaders, stream, callFields)
}

export const ping = frame(frameType.ping, 0, 0, Buffer.alloc(8))
export const emptySettings = frame(frameType.settings, 0, 0)
export function emptyData(stream: number): Buffer {
  return frame(frameType.data, 0, stream)
}
export function reset(stream: number): Buffer {
  return frame(frameType.reset, 0, stream, Buffer.from([0, 0, 0, 8]))
}
/** Neither the HEADERS nor a CONTINUATION frame ends the block. */
export function endlessHeaders(stream: number, continuations: number): Buffer {
  const more = frame(continuation, 0, stream, fields(['a', 'b'.repeat(100)]))
  return Buffer.concat([
    frame(frameType.headers, 0, stream, callFields),
    ...Array.from({ length: continuations }, () => more),
  ])
}
export function prioritized(stream: number): Buffer {
  return frame(priority, 0, stream, Buffer.from([0, 0, 0, 0, 1]))
}
export function windowUpdated(stream: number, by: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(by)
  return frame(windowUpdate, 0, stream, payload)
}

/** An HTTP/2 connection on which a test writes raw frames. */
export class RawHttp2 implements Disposable {
  readonly socket: Socket
  isClosed = false
  /** Received frames by type. */
  readonly #counts = new Map<number, number>()
  /** Code of the received GOAWAY; null before it arrives. */
  goaway: number | null = null
  /** SETTINGS_MAX_CONCURRENT_STREAMS of the server; null before it arrives. */
  maxStreams: number | null = null
  #rest: Buffer = Buffer.alloc(0)

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
      .on('data', (data: Buffer) => {
        this.#read(data)
      })
      .on('error', () => {})
      .setMaxListeners(0)
      .on('close', () => (this.isClosed = true))
    this.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), emptySettings)
  }

  /** Number of received frames of this type. */
  count(type: number): number {
    return this.#counts.get(type) ?? 0
  }

  /** Resolves when all bytes are sent or the server has closed. */
  writeAll(...frames: readonly Buffer[]): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.destroyed) return resolve()
      this.socket.once('close', resolve).write(Buffer.concat(frames), () => {
        this.socket.off('close', resolve)
        setImmediate(resolve)
      })
    })
  }

  write(...frames: readonly Buffer[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames))
  }

  #read(data: Buffer): void {
    let rest = Buffer.concat([this.#rest, data])
    for (;;) {
      const end = rest.length < 9 ? Infinity : 9 + rest.readUIntBE(0, 3)
      if (rest.length < end) break
      const type = rest[3] ?? 0
      this.#counts.set(type, this.count(type) + 1)
      const entries = type === frameType.settings ? rest.subarray(9, end) : []
      for (let at = 0; at < entries.length; at += 6)
        if (rest.readUInt16BE(9 + at) === 3) this.maxStreams = rest.readUInt32BE(11 + at)
      if (type === frameType.goaway) this.goaway = rest.readUInt32BE(13)
      rest = rest.subarray(end)
    }
    this.#rest = rest
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}
