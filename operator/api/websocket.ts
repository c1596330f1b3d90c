// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { integer, object } from './field.ts'
import { byteSize, duration } from './quantity.ts'

/** What one WebSocket connection of a client may take. Unset: the router's own defaults. */
export const webSocket = object(
  {
    maxMessageSize: byteSize({
      name: 'maxMessageSize',
      description: 'The largest message that is taken from a client. Unset: 64Mi.',
      max: '1Gi',
      example: '64Mi',
    }).optional(),
    maxCalls: integer({
      description:
        'Calls in flight on one connection. More wait, and the connection is not read meanwhile. Unset: 100.',
      example: 100,
      min: 1,
      max: 100_000,
    }).optional(),
    maxSubscriptions: integer({
      description: 'Subscriptions of one connection. Unset: 100.',
      example: 100,
      min: 0,
      max: 100_000,
    }).optional(),
    maxBufferedSize: byteSize({
      name: 'maxBufferedSize',
      description:
        'Answers and notifications that wait for a client which does not read. With more, no more calls are taken on, and it is closed with 1008. Unset: 8Mi.',
      max: '1Gi',
      example: '8Mi',
    }).optional(),
    idleTimeout: duration({
      name: 'idleTimeout',
      description:
        'A connection without a call or a subscription for this long is closed with 1000. Unset: 10m.',
      example: '10m',
      min: '1s',
      max: '24h',
    }).optional(),
  },
  {
    description: 'What one WebSocket connection of a client may take.',
    example: { maxSubscriptions: 100, idleTimeout: '10m' },
  },
)

/** How subscriptions are kept whole. Unset: the router's own defaults. */
export const subscriptions = object(
  {
    maxGapBlocks: integer({
      description:
        'Missed blocks that are made up for when a subscription moves to another upstream. With more, its clients are disconnected with a reason. Unset: 1000.',
      example: 1000,
      min: 1,
      max: 100_000,
    }).optional(),
    stallBlocks: integer({
      description:
        'Block times without news, at least 3s, after which it is looked whether the upstream of a subscription has stalled. Unset: 3.',
      example: 3,
      min: 1,
      max: 10_000,
    }).optional(),
  },
  {
    description: 'How subscriptions are kept whole.',
    example: { maxGapBlocks: 1000, stallBlocks: 3 },
  },
)
