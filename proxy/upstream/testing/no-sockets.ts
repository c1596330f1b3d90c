// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SocketTransport } from '../wire.ts'

/** For a pool whose upstreams have no WebSocket URL. */
export function createNoSocket(): SocketTransport {
  throw new Error('this test has no WebSocket URL')
}
