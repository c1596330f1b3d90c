// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fieldAt } from '../../chain/proto-field.ts'
import type { ProbeCall } from '../../chain/types.ts'
import type { Dialect, Said, WholeAnswer } from '../dialect.ts'
import { header } from '../wire.ts'
import { soleMessage } from './grpc-message.ts'
import { readStatus } from './grpc-status.ts'

/** An empty message, not compressed. */
const emptyMessage = Buffer.alloc(5)

/** Unary gRPC: one message each way, the outcome among the trailers. */
export const grpcDialect: Dialect = {
  ask: ({ path }: ProbeCall) => ({
    verb: 'POST',
    path,
    headers: ['content-type', 'application/grpc'],
    body: emptyMessage,
  }),
  read(answer: WholeAnswer): Said {
    const status = readStatus(answer)
    if (status === null)
      return { kind: 'malformed', why: `HTTP ${answer.status} without grpc-status` }
    if (status.code !== 0) return { kind: 'error', error: { status: answer.status, ...status } }
    const message = soleMessage(answer.body)
    if (message === null) return { kind: 'malformed', why: 'not exactly one whole plain message' }
    return {
      kind: 'answer',
      at: ({ path, header: name }) =>
        name === undefined ? fieldAt(message, path) : (header(answer.headers, name) ?? undefined),
    }
  },
}
