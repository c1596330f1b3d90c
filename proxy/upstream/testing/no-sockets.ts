// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SocketTransport } from '../wire.ts'

/** Socket factory for a pool without WebSocket URLs. */
export function createNoSocket(): SocketTransport {
  throw new Error('this test has no WebSocket URL')
}
