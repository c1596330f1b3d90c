// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { settings } from '../../proxy/config/settings.ts'
import { integrityLevels, strategies } from '../../proxy/config/types.ts'
import { boolean, integer, object, oneOf } from './field.ts'
import { byteSize, duration } from './quantity.ts'
import type { z } from 'zod'

const strategy = oneOf(strategies, {
  description: 'How upstreams are chosen.',
  example: 'latency',
})
const retryLimit = integer({
  description: 'Retries after the first attempt. 0: no retry and no hedge.',
  example: 2,
  min: 0,
  max: 100,
})
const maxAttempts = integer({
  description:
    'Attempts of all kinds for one call, hedges included. A write goes to every upstream, whatever this says.',
  example: 10,
  min: 1,
  max: 1000,
})
const processingTimeout = duration({
  name: 'processingTimeout',
  description: 'The whole time that one call may take.',
  example: '30s',
  min: '1ms',
  max: '24h',
})
const minRelayTimeout = duration({
  name: 'minRelayTimeout',
  description: 'The least time that the router itself gives an attempt.',
  example: '1s',
  min: '0s',
  max: '24h',
})
const integrity = oneOf(integrityLevels, {
  description:
    'How answers are checked: "off" (in quotes: YAML takes it for false), envelope (complete and in the form of the interface), core (and against the request), full (and hashes of Ethereum are worked out).',
  example: 'core',
})
const retryMissingBlocks = boolean({
  description: 'Ask another upstream when one answers null for a block that the tip says exists.',
  example: false,
})

/** How one listener relays otherwise than the router as a whole. */
export const endpointRelay = object(
  {
    strategy: strategy.optional(),
    retryLimit: retryLimit.optional(),
    maxAttempts: maxAttempts.optional(),
    processingTimeout: processingTimeout.optional(),
    minRelayTimeout: minRelayTimeout.optional(),
    integrity: integrity.optional(),
    retryMissingBlocks: retryMissingBlocks.optional(),
  },
  {
    description: 'What this listener does otherwise than spec.relay says.',
    example: { strategy: 'latency', retryLimit: 3 },
  },
)

/** How the router relays. The defaults are the router's own. */
export const routerRelay = object(
  {
    strategy: strategy.default(settings.strategy.default),
    retryLimit: retryLimit.default(Number(settings['set-relay-retry-limit'].default)),
    maxAttempts: maxAttempts.default(Number(settings['max-relay-attempts'].default)),
    processingTimeout: processingTimeout.default(settings['default-processing-timeout'].default),
    minRelayTimeout: minRelayTimeout.default(settings['min-relay-timeout'].default),
    integrity: integrity.default(settings.integrity.default),
    retryMissingBlocks: retryMissingBlocks.default(false),
  },
  {
    description: 'How calls are relayed; an endpoint can say otherwise.',
    example: { strategy: 'latency', retryLimit: 3 },
  },
)

export type EndpointRelay = z.output<typeof endpointRelay>

/** How the router treats its upstreams. The defaults are the router's own. */
export const upstreamSettings = object(
  {
    maxSessionsPerProvider: integer({
      description: 'Calls at once to one upstream; then it is full, not failed.',
      example: 1000,
      min: 1,
      max: 1_000_000,
    }).default(Number(settings['max-sessions-per-provider'].default)),
    failureThreshold: integer({
      description: 'Failures in a row that disable an upstream.',
      example: 5,
      min: 1,
      max: 1_000_000,
    }).default(Number(settings['upstream-failure-threshold'].default)),
    epochDuration: duration({
      name: 'epochDuration',
      description:
        'Length of an epoch. At its end disabled upstreams are tried again; a sticky session lives two epochs.',
      example: '15m',
      min: '1s',
      max: '24h',
    }).default(settings['epoch-duration'].default),
    healthCheckInterval: duration({
      name: 'healthCheckInterval',
      description: 'Time between two checks of an upstream.',
      example: '5m',
      min: '100ms',
      max: '24h',
    }).default(settings['health-check-interval'].default),
    livenessProbeInterval: duration({
      name: 'livenessProbeInterval',
      description: 'Time between two light probes, which run between health checks. Unset: none.',
      example: '5s',
      min: '100ms',
      max: '24h',
    }).optional(),
  },
  {
    description: 'How upstreams are checked and taken out.',
    example: { failureThreshold: 5, livenessProbeInterval: '5s' },
  },
)

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
