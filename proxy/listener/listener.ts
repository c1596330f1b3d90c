// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Address } from '../config/types.ts'

/** A bound address that serves one chain through one interface. */
export interface Listener {
  /** Binds. Resolves with the real port (a configured 0 takes a free one). @throws Error naming the address */
  start(): Promise<Address>
  /**
   * First phase of a stop: goes on answering, and tells every connection to close after its answer.
   * Resolves when nothing is in flight and no client has asked anything for a moment.
   */
  drain(): Promise<void>
  /**
   * Second phase: takes no more connections. Resolves when every call that came in whole is answered.
   */
  settle(): Promise<void>
  /** Last: ends the connections that are left. */
  close(): Promise<void>
}
