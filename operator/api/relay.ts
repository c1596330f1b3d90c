// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { settings } from '../../proxy/config/settings.ts'
import { integrityLevels, strategies } from '../../proxy/config/types.ts'
import { boolean, integer, list, object, oneOf, text } from './field.ts'
import { apiInterface, chainId, method } from './names.ts'
import { byteSize, duration } from './quantity.ts'

function count(description: string, example: number) {
  return integer(description, [1, 1000], example)
}

function bounds(description: string) {
  return object(
    description,
    {
      floor: count('Minimum; raises a lower request of a caller.', 2).optional(),
      cap: count('Maximum; lowers a higher request of a caller.', 3).optional(),
    },
    {
      '{field} must have floor, cap or both': 'has(self.floor) || has(self.cap)',
      '{field}.floor must be at most {field}.cap':
        '!has(self.floor) || !has(self.cap) || self.floor <= self.cap',
    },
  )
}

const examplePolicy = {
  chainId: 'ETH1',
  apiInterface: 'jsonrpc',
  method: 'eth_getBalance',
  agreementThreshold: { floor: 2 },
  maxParticipants: { floor: 3, cap: 5 },
}

const policy = object(
  'Policy of one method.',
  {
    chainId: chainId('Chain.', 'ETH1'),
    apiInterface: apiInterface('Interface.', 'jsonrpc'),
    method: method('Method that the policy applies to.', 'eth_getBalance'),
    enabled: boolean('Whether the policy is active.').default(true),
    agreementThreshold: bounds('Number of answers that must match.').optional(),
    maxParticipants: bounds(
      'Number of upstreams to query. A floor below that of agreementThreshold is raised to it.',
    ).optional(),
    minGroups: object('Number of groups that the matching answers must come from.', {
      floor: count('Minimum.', 2),
    }).optional(),
    perGroupQuorum: count('Number of answers that must match within each group.', 1).optional(),
    oneVotePerGroup: boolean(
      'Query one upstream of each group, so that two keys of one vendor have one vote.',
    ).default(false),
    ignoreFields: list(
      'Fields of the result that differ between nodes, which are not compared.',
      text('Path of names separated by dots, below the result; * matches every list element.', {
        example: 'context.slot',
        max: 128,
        pattern: /^[^\s.]+(\.[^\s.]+)*$/,
        must: 'ignoreFields must have names with dots between them',
      }),
      { max: 16, kind: 'set' },
    ).optional(),
    forbidCallers: boolean(
      'Whether to ignore requests of callers for cross-validation of this method.',
    ).default(false),
  },
  {
    'perGroupQuorum must be 1 with oneVotePerGroup':
      '!self.oneVotePerGroup || !has(self.perGroupQuorum) || self.perGroupQuorum == 1',
    'agreementThreshold.floor must be at most maxParticipants.cap':
      'self.?agreementThreshold.floor.orValue(1) <= self.?maxParticipants.cap.orValue(1000)',
    'minGroups.floor must be at most maxParticipants.cap':
      '!has(self.minGroups) || self.minGroups.floor <= self.?maxParticipants.cap.orValue(1000)',
  },
  examplePolicy,
)

export const crossValidation = object(
  'Methods whose answers are compared between upstreams before one is returned. Unset: none.',
  {
    policies: list('One policy per chain, interface and method.', policy, {
      min: 1,
      max: 128,
      kind: ['chainId', 'apiInterface', 'method'],
    }),
  },
)

const relayFields = {
  strategy: oneOf('How upstreams are selected.', strategies, 'latency'),
  retryLimit: integer('Retries after the first attempt. 0: no retry and no hedge.', [0, 100], 2),
  maxAttempts: integer(
    'Attempts of all kinds for one call, hedges included. A write goes to every upstream regardless.',
    [1, 1000],
    10,
  ),
  processingTimeout: duration('Total time of one call.', ['1ms', '24h'], '30s'),
  minRelayTimeout: duration(
    'Minimum timeout that the router computes for an attempt.',
    ['0s', '24h'],
    '1s',
  ),
  integrity: oneOf(
    'How answers are checked: "off" (quoted, since YAML reads off as false), envelope (complete and well-formed for the interface), core (also against the request), full (also hashes of Ethereum).',
    integrityLevels,
    'core',
  ),
  retryMissingBlocks: boolean(
    'Retry at another upstream if one answers null for a tag, or for a block up to the tip that its own head has not reached.',
    false,
  ),
}

/** Relay settings of one listener, which override the router's. */
export const endpointRelay = object(
  'Relay settings of this listener, which override spec.relay.',
  z.object(relayFields).partial().shape,
)

function defaultCount(name: keyof typeof settings): number {
  return Number(settings[name].default)
}

/** Relay settings of a router. The defaults are the router's own. */
export const routerRelay = object('Relay settings; an endpoint can override them.', {
  strategy: relayFields.strategy.default(settings.strategy.default),
  retryLimit: relayFields.retryLimit.default(defaultCount('set-relay-retry-limit')),
  maxAttempts: relayFields.maxAttempts.default(defaultCount('max-relay-attempts')),
  processingTimeout: relayFields.processingTimeout.default(
    settings['default-processing-timeout'].default,
  ),
  minRelayTimeout: relayFields.minRelayTimeout.default(settings['min-relay-timeout'].default),
  integrity: relayFields.integrity.default(settings.integrity.default),
  retryMissingBlocks: relayFields.retryMissingBlocks.default(false),
})

export type EndpointRelay = z.output<typeof endpointRelay>

/** Settings of upstreams. The defaults are the router's own. */
export const upstreamSettings = object('How upstreams are checked and disabled.', {
  maxSessionsPerProvider: integer(
    'Concurrent calls to one upstream; at the limit it is full, not failed.',
    [1, 1_000_000],
  ).default(defaultCount('max-sessions-per-provider')),
  failureThreshold: integer(
    'Consecutive failures that disable an upstream.',
    [1, 1_000_000],
  ).default(defaultCount('upstream-failure-threshold')),
  epochDuration: duration(
    'Length of an epoch. At its end disabled upstreams are retried; a sticky session lasts two epochs.',
    ['1s', '24h'],
  ).default(settings['epoch-duration'].default),
  healthCheckInterval: duration('Time between two health checks of an upstream.', [
    '100ms',
    '24h',
  ]).default(settings['health-check-interval'].default),
  livenessProbeInterval: duration(
    'Time between two light probes between health checks. Unset: none.',
    ['100ms', '24h'],
    '5s',
  ).optional(),
})

/** Limits of a client's WebSocket connection. Unset: the router's own defaults. */
export const webSocket = object("Limits of a client's WebSocket connection.", {
  maxMessageSize: byteSize(
    'Maximum size of a message from a client. Unset: 10Mi.',
    '1Gi',
    '10Mi',
  ).optional(),
  maxCalls: integer(
    'Calls in flight on one connection. At the limit the router stops reading from it. Unset: 128.',
    [1, 100_000],
    128,
  ).optional(),
  maxSubscriptions: integer(
    'Subscriptions of one connection. Unset: 100.',
    [0, 100_000],
    100,
  ).optional(),
  maxBufferedSize: byteSize(
    'Buffered answers and notifications for a slow client. Above the limit the router accepts no more calls and closes the connection with 1008. Unset: 8Mi.',
    '1Gi',
    '8Mi',
  ).optional(),
  idleTimeout: duration(
    'Time without a call or a subscription after which a connection is closed with 1000. Unset: 10m.',
    ['1s', '24h'],
    '10m',
  ).optional(),
})

/** Settings of subscriptions. Unset: the router's own defaults. */
export const subscriptions = object('How subscriptions avoid gaps.', {
  maxGapBlocks: integer(
    'Maximum number of missed blocks to backfill when a subscription moves to another upstream. Above it, clients are disconnected with a reason. Unset: 1000.',
    [1, 100_000],
    1000,
  ).optional(),
  stallBlocks: integer(
    'Block times without events, at least 3s, after which the upstream of a subscription is checked for a stall. Unset: 3.',
    [1, 10_000],
    3,
  ).optional(),
})
