// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SocketLimits } from '../../config/types.ts'
import type { HeaderList } from '../../upstream/wire.ts'

/** Why the router closes a WebSocket (RFC 6455, 7.4.1, and its registry). */
export const closeCodes = {
  /** Nothing was asked for a long time. */
  idle: 1000,
  /** The router stops. */
  goingAway: 1001,
  /** The client does not read, and what it is owed is not kept. */
  notRead: 1008,
  /** An answer broke off when a part of it was on its way. */
  brokenOff: 1011,
  /** A subscription cannot go on without a hole. */
  tryAgain: 1013,
} as const

/** One WebSocket of a client, in terms of no library. Once it is closed, what is sent is dropped. */
export interface ClientSocket {
  /** Bytes that the client's machine has not taken. */
  readonly bufferedBytes: number
  /**
   * Sends one message made of these pieces, which nobody may change afterwards.
   * @returns false when it is time to wait until it is drained
   */
  send(pieces: readonly Uint8Array[]): boolean
  /** Sends a part of a message; until its last part nothing else may be sent. */
  sendPart(part: Uint8Array, isLast: boolean): boolean
  /** Runs once, when all was taken. Not when it is closed before. */
  onceDrained(run: () => void): void
  /** Reads no more messages for now. */
  pause(): void
  resume(): void
  /** @param reason of at most 123 bytes */
  close(code: number, reason: string): void
}

/** What is done with one WebSocket. */
export interface SocketHandler {
  received(message: Uint8Array): void
  /** It is over, whoever ended it. */
  closed(): void
  /** Calls wait for their answers. */
  readonly isServing: boolean
  /** Nobody would miss it: no calls, no subscriptions. */
  readonly isIdle: boolean
  /** Says goodbye as soon as every call is answered. */
  leave(): void
  /** What is asked from now on is not answered. */
  settle(): void
}

/** What is served on the WebSockets of a listener. */
export interface SocketServing {
  /** Paths that can be upgraded. */
  readonly paths: readonly string[]
  readonly limits: SocketLimits
  /** A client came to one of the paths, with these headers. `guid` names the connection. */
  open(socket: ClientSocket, path: string, headers: HeaderList, guid: string): SocketHandler
}
