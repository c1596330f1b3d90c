// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type ClientHttp2Session } from 'node:http2'
import type { Cancel, Clock } from '../../clock/clock.ts'
import type { TlsOptions } from '../tls.ts'
import { metadataOptions } from './metadata-options.ts'
import { TransportError } from '../transport.ts'

/** One slow reader must not use up what all streams of a connection may have on the way. */
const connectionWindowBytes = 16 * 1024 * 1024
/** What a node allows at once when it does not say. */
const usualStreams = 100
/** No connection carries more than this, also where the node would allow it. */
const maxStreams = 256
/**
 * Of what Node keeps for one connection. Past it, Node resets streams whose answers begin: so it is many
 * times what `maxStreams` have waiting, a piece of a request and their headers each.
 */
const maxSessionMegabytes = 256
/** A connection that is not there by then is given up. */
const connectTimeoutMs = 10_000
/** A connection with calls on it is asked for a sign of life this often, and has this long for it. */
const pingEveryMs = 30_000
const pingTimeoutMs = 10_000
/** An idle one is closed, below what common load balancers close at (60 s). */
const idleMs = 30_000

/** A connection and how much it carries. */
interface Session {
  readonly http2: ClientHttp2Session
  streams: number
  /** Takes new streams. Those that it has run on when the node says GOAWAY. */
  isOpen: boolean
  cancel: Cancel
}

/** A place on a connection for one stream. */
export interface Seat {
  readonly http2: ClientHttp2Session
  /** Gives it back; once. */
  leave(): void
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

  take(): Seat {
    const session = [...this.#sessions].find(hasRoom) ?? this.#open()
    session.streams += 1
    if (session.streams === 1) this.#watch(session)
    const leave = () => {
      session.streams -= 1
      if (session.streams === 0) this.#watch(session)
    }
    return { http2: session.http2, leave }
  }

  close(): void {
    for (const { http2 } of this.#sessions) http2.close()
  }

  destroy(): void {
    for (const { http2 } of this.#sessions) http2.destroy()
  }

  #open(): Session {
    const http2 = connect(this.#authority, {
      ...this.#tls,
      ...metadataOptions,
      maxSessionMemory: maxSessionMegabytes,
      settings: { enablePush: false, initialWindowSize: 1024 * 1024 },
    })
    const cancelConnecting = this.#clock.after(connectTimeoutMs, () => {
      http2.destroy(new TransportError('refused', 'no connection in time', false))
    })
    const session: Session = { http2, streams: 0, isOpen: true, cancel: () => {} }
    const leave = () => {
      session.isOpen = false
    }
    const gone = () => {
      leave()
      cancelConnecting()
      session.cancel()
      this.#sessions.delete(session)
    }
    http2.on('connect', () => {
      cancelConnecting()
      http2.setLocalWindowSize(connectionWindowBytes)
    })
    // Each stream hears of an error by itself; a session has nobody else to tell.
    http2.on('error', gone)
    http2.on('goaway', leave)
    http2.on('close', gone)
    http2.unref()
    this.#sessions.add(session)
    return session
  }

  /** With calls on it, a connection is asked for signs of life; without, it may go after a while. */
  #watch(session: Session): void {
    session.cancel()
    const { http2 } = session
    if (http2.destroyed) return
    if (session.streams === 0) {
      session.cancel = this.#clock.after(idleMs, () => {
        http2.close()
      })
      return
    }
    session.cancel = this.#clock.after(pingEveryMs, () => {
      this.#ping(session)
    })
  }

  #ping(session: Session): void {
    const { http2 } = session
    session.cancel = this.#clock.after(pingTimeoutMs, () => {
      http2.destroy(new TransportError('reset', 'no answer to a ping'))
    })
    if (http2.destroyed || http2.connecting) return
    const answered = (error: Error | null) => {
      if (error === null) this.#watch(session)
    }
    // Node pings no connection that is about to close; settings have to be acknowledged as well.
    if (http2.closed) http2.settings({}, answered)
    else http2.ping(answered)
  }
}

function hasRoom({ http2, streams, isOpen }: Session): boolean {
  if (!isOpen || http2.closed || http2.destroyed) return false
  const { maxConcurrentStreams = usualStreams } = http2.connecting ? {} : http2.remoteSettings
  return streams < Math.min(Math.max(1, maxConcurrentStreams), maxStreams)
}
