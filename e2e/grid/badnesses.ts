// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Fault, quota } from '../upstream-sim/faults.ts'
import { askedMethods, type Badness, head, lag } from './cell.ts'

const striking = (fault: Fault, headers?: Badness['headers']): Badness => ({
  onceServing(node) {
    node.faults.add(fault, { methods: askedMethods })
  },
  ...(headers ? { headers } : {}),
})
const patience = { 'rpc-relay-timeout': '700ms' }

/** The faults of a node, by their names in the grid. */
export const badnesses = {
  down: { onceServing: (node) => node.stop() },
  slow: striking({ kind: 'slow', delayMs: 50 }),
  'too slow': striking({ kind: 'slow', delayMs: 3_000 }, patience),
  hang: striking({ kind: 'hang' }, patience),
  'reset before head': striking({ kind: 'reset', when: 'before-head' }),
  'reset after head': striking({ kind: 'reset', when: 'after-head' }),
  'half by length': striking({ kind: 'half-body', framing: 'content-length' }),
  'half chunked': striking({ kind: 'half-body', framing: 'chunked' }),
  '429 in seconds': striking({ kind: 'rate-limit', retryAfter: 60 }),
  '429 until a date': striking({ kind: 'rate-limit', retryAfter: new Date('2100-01-01') }),
  '429 bare': striking({ kind: 'rate-limit' }),
  'quota with 200': striking(quota),
  'own form of quota': striking({
    kind: 'forged',
    forge: () => '{"message":"API rate limit exceeded"}',
  }),
  '500 json': striking({ kind: 'status', status: 500, body: 'json-rpc' }),
  '502 html': striking({ kind: 'status', status: 502, body: 'html' }),
  '503 empty': striking({ kind: 'status', status: 503, body: 'empty' }),
  '401 html': striking({ kind: 'status', status: 401, body: 'html' }),
  '400 html': striking({ kind: 'status', status: 400, body: 'html' }),
  '404 html': striking({ kind: 'status', status: 404, body: 'html' }),
  '413 html': striking({ kind: 'status', status: 413, body: 'html' }),
  '415 empty': striking({ kind: 'status', status: 415, body: 'empty' }),
  'empty body': striking({ kind: 'empty-body' }),
  'invalid json': striking({ kind: 'invalid-json' }),
  'wrong id': striking({ kind: 'wrong-id' }),
  gzip: striking({ kind: 'gzip' }),
  lag: {
    fromStart: (node) => {
      node.view.lagBlocks = lag
    },
  },
  pruned: {
    fromStart: (node) => {
      node.view.earliestState = head - 1
    },
  },
  'null result': striking({ kind: 'null-result' }),
  reverts: striking({ kind: 'error', code: 3, message: 'execution reverted: no' }),
  'unknown error': striking({ kind: 'error', code: -32000, message: 'odd weather' }),
  'parse error': striking({ kind: 'error', code: -32700, message: 'Parse error' }),
  'no request': striking({ kind: 'error', code: -32600, message: 'Invalid Request' }),
  'bad parameters': striking({ kind: 'error', code: -32602, message: 'Invalid params' }),
  'gateway error': striking({ kind: 'error', code: -32000, message: 'connect ECONNREFUSED' }),
  'internal error': striking({ kind: 'error', code: -32603, message: 'Internal error' }),
} as const satisfies Record<string, Badness>
