// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type ClientHttp2Session } from 'node:http2'
import { http2Limits } from '../../../bytes/limits.ts'
import type { Cancel, Clock } from '../../../clock/clock.ts'
import { keepalive } from '../../../clock/keepalive.ts'
import type { TlsOptions } from '../upstream-target.ts'
import { TransportError } from '../../wire.ts'

/** What a node allows at once when it does not say. */
const usualStreams = 100
/** A connection that is not there by then is given up. */
const connectTimeoutMs = 10_000
/** A connection that is silent for one to two times as long is asked for a sign of life, and has as long for it. */
const pulseMs = 15_000
/** An idle one is closed, below what common load balancers close at (60 s). */
const idleMs = 30_000

/**
 * How a session of Node takes and gives metadata: as it is, so that it is no reason to fail, and to
 * blame a node. It is bounded by its bytes alone: an entry has one at least, and room for more than
 * that much is made for it on the wire.
 */
export const metadataOptions = {
  maxHeaderListPairs: http2Limits.metadataBytes,
  maxSendHeaderBlockLength: 16 * http2Limits.metadataBytes,
  // Space around a value: it is taken off, where the whole entry would go.
  strictFieldWhitespaceValidation: false,
  // A name that comes twice where HTTP wants it once.
  strictSingleValueFields: false,
}

/** A connection and how much it carries. */
interface Session {
  readonly http2: ClientHttp2Session
  streams: number
  resets: number
  /** Takes new streams. Those that it has run on when the node says GOAWAY. */
  isOpen: boolean
  cancelIdle: Cancel
}

/** The HTTP/2 connections to one authority: one, and more where there are many streams. */
export class Http2Sessions {
  readonly #authority: string
  readonly #tls: TlsOptions
  readonly #clock: Clock
  readonly #sessions = new Set<Session>()

  /** @param authority `http://host:port` for plaintext, `https://host:port` for TLS */
  constructor(authority: string, tls: TlsOptions, clock: Clock) {
    this.#authority = authority
    this.#tls = tls
    this.#clock = clock
  }

  /** A connection for one stream, which is given back by `leave`, once. */
  take(): Session {
    const session = [...this.#sessions].find(hasRoom) ?? this.#open()
    session.streams += 1
    session.cancelIdle()
    return session
  }

  leave(session: Session, wasReset = false): void {
    const { http2 } = session
    session.streams -= 1
    if (wasReset && ++session.resets >= http2Limits.nodeResets) session.isOpen = false
    if (session.streams > 0 || http2.destroyed) return
    if (!session.isOpen) return http2.close()
    session.cancelIdle()
    session.cancelIdle = this.#clock.after(idleMs, () => http2.close())
  }

  /** What is under way ends, and no node is to blame for that. */
  close(): void {
    const closed = new TransportError('aborted', 'the connection was closed')
    for (const { http2 } of this.#sessions) http2.destroy(closed)
  }

  #open(): Session {
    const http2 = connect(this.#authority, {
      ...this.#tls,
      ...metadataOptions,
      maxSessionMemory: http2Limits.nodeSessionMiB,
      settings: { enablePush: false, initialWindowSize: http2Limits.streamWindowBytes },
    })
    const cancelConnecting = this.#clock.after(connectTimeoutMs, () =>
      http2.destroy(new TransportError('refused', 'no connection in time', false)),
    )
    const session: Session = { http2, streams: 0, resets: 0, isOpen: true, cancelIdle: () => {} }
    // Ends a connection that gives no sign of life, whether its calls come one by one or rest. Asks by
    // SETTINGS, which have to be acknowledged (RFC 9113, 6.5.3), and not by PING: servers of grpc-go and
    // gRPC's C core end a connection that pings while its streams rest more often than every 5 minutes.
    const stopPulse = keepalive({
      clock: this.#clock,
      everyMs: pulseMs,
      received: () => http2.socket?.bytesRead ?? 0,
      ask: () => {
        if (!http2.destroyed) http2.settings({})
      },
      lost: () => http2.destroy(new TransportError('reset', 'no sign of life')),
    })
    const leave = () => {
      session.isOpen = false
    }
    const gone = () => {
      leave()
      cancelConnecting()
      stopPulse()
      session.cancelIdle()
      this.#sessions.delete(session)
    }
    http2.on('connect', () => {
      cancelConnecting()
      // All calls may have been cancelled before, and the connection closed.
      if (!http2.destroyed) http2.setLocalWindowSize(http2Limits.nodeWindowBytes)
    })
    // Each stream gets the error by itself; there is nobody else to report it to.
    http2.on('error', gone)
    http2.on('goaway', leave)
    http2.on('close', gone)
    http2.unref()
    this.#sessions.add(session)
    return session
  }
}

function hasRoom({ http2, streams, isOpen }: Session): boolean {
  if (!isOpen || http2.closed || http2.destroyed) return false
  const { maxConcurrentStreams = usualStreams } = http2.connecting ? {} : http2.remoteSettings
  return streams < Math.min(Math.max(1, maxConcurrentStreams), http2Limits.nodeStreams)
}
