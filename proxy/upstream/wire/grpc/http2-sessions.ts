// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type ClientHttp2Session } from 'node:http2'
import { http2Limits } from '../../../bytes/limits.ts'
import type { Cancel, Clock } from '../../../clock/clock.ts'
import { keepalive } from '../../../clock/keepalive.ts'
import type { TlsOptions } from '../upstream-target.ts'
import { TransportError } from '../../wire.ts'

/** Concurrent streams that a node allows by default. */
const usualStreams = 100
/** Deadline for opening a connection. */
const connectTimeoutMs = 10_000
/** After one or two such periods of silence, the node has one more to show a sign of life. */
const pulseMs = 15_000
/** Idle timeout, below that of common load balancers (60 s). */
const idleMs = 30_000

/**
 * Makes a Node session pass metadata unchanged, so that it cannot fail a call and blame the node.
 * Only its bytes are limited: an entry has at least one, and the wire buffer has room for more.
 */
export const metadataOptions = {
  maxHeaderListPairs: http2Limits.metadataBytes,
  maxSendHeaderBlockLength: 16 * http2Limits.metadataBytes,
  // Removes space around a value instead of dropping the entry.
  strictFieldWhitespaceValidation: false,
  // Allows repeated headers that HTTP permits only once.
  strictSingleValueFields: false,
}

/** A connection and its load. */
interface Session {
  readonly http2: ClientHttp2Session
  streams: number
  resets: number
  /** Whether it accepts new streams. After a GOAWAY, existing streams continue. */
  isOpen: boolean
  cancelIdle: Cancel
}

/** The HTTP/2 connections to one authority: one, or more for many streams. */
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

  /** Returns a connection for one stream. The caller releases it with `leave`, once. */
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

  /** Aborts calls in flight, without blaming the node. */
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
    // Ends a connection that shows no sign of life, whether it has single calls or idle streams.
    // The check sends SETTINGS, which a node must acknowledge (RFC 9113, 6.5.3). PING is unsafe:
    // grpc-go and gRPC's C core close idle connections that ping more than every 5 minutes.
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
      // Every call may be cancelled by now, and the connection closed.
      if (!http2.destroyed) http2.setLocalWindowSize(http2Limits.nodeWindowBytes)
    })
    // Each stream gets the error itself, so nothing else reports it.
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
