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
      floor: count('The least; what a caller asks for is raised to it.', 2).optional(),
      cap: count('The most; what a caller asks for is cut to it.', 3).optional(),
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
  'What holds for one method.',
  {
    chainId: chainId('Chain.', 'ETH1'),
    apiInterface: apiInterface('Interface.', 'jsonrpc'),
    method: method('Method that the policy applies to.', 'eth_getBalance'),
    enabled: boolean('Whether the policy is active.').default(true),
    agreementThreshold: bounds('How many answers must match.').optional(),
    maxParticipants: bounds(
      'How many upstreams are asked. A floor below that of agreementThreshold is raised to it.',
    ).optional(),
    minGroups: object('How many groups the matching answers must come from.', {
      floor: count('The least.', 2),
    }).optional(),
    perGroupQuorum: count('How many answers must match within each group.', 1).optional(),
    oneVotePerGroup: boolean(
      'Ask one upstream of each group, so that two keys of one vendor have one vote.',
    ).default(false),
    ignoreFields: list(
      "Fields of the result that are each node's own, and are not compared.",
      text('Names with dots between them, from the result down; * is every element of a list.', {
        example: 'context.slot',
        max: 128,
        pattern: /^[^\s.]+(\.[^\s.]+)*$/,
        must: 'ignoreFields must have names with dots between them',
      }),
      { max: 16, kind: 'set' },
    ).optional(),
    forbidCallers: boolean(
      'Whether callers may not ask for cross-validation of this method.',
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
  'Which answers are compared between upstreams before one is given. Unset: none.',
  {
    policies: list('One policy per chain, interface and method.', policy, {
      min: 1,
      max: 128,
      kind: ['chainId', 'apiInterface', 'method'],
    }),
  },
)

const relayFields = {
  strategy: oneOf('How upstreams are chosen.', strategies, 'latency'),
  retryLimit: integer('Retries after the first attempt. 0: no retry and no hedge.', [0, 100], 2),
  maxAttempts: integer(
    'Attempts of all kinds for one call, hedges included. A write goes to every upstream, whatever this says.',
    [1, 1000],
    10,
  ),
  processingTimeout: duration('The whole time that one call may take.', ['1ms', '24h'], '30s'),
  minRelayTimeout: duration(
    'The least time that the router itself gives an attempt.',
    ['0s', '24h'],
    '1s',
  ),
  integrity: oneOf(
    'How answers are checked: "off" (in quotes: YAML takes it for false), envelope (complete and in the form of the interface), core (and against the request), full (and hashes of Ethereum are worked out).',
    integrityLevels,
    'core',
  ),
  retryMissingBlocks: boolean(
    'Ask another upstream also when one answers null for a tag, or for a block that the tip says exists and its own head has not reached.',
    false,
  ),
}

/** How one listener relays otherwise than the router as a whole. */
export const endpointRelay = object(
  'What this listener does otherwise than spec.relay says.',
  z.object(relayFields).partial().shape,
)

function defaultCount(name: keyof typeof settings): number {
  return Number(settings[name].default)
}

/** How the router relays. The defaults are the router's own. */
export const routerRelay = object('How calls are relayed; an endpoint can say otherwise.', {
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

/** How the router treats its upstreams. The defaults are the router's own. */
export const upstreamSettings = object('How upstreams are checked and taken out.', {
  maxSessionsPerProvider: integer(
    'Calls at once to one upstream; then it is full, not failed.',
    [1, 1_000_000],
  ).default(defaultCount('max-sessions-per-provider')),
  failureThreshold: integer('Failures in a row that disable an upstream.', [1, 1_000_000]).default(
    defaultCount('upstream-failure-threshold'),
  ),
  epochDuration: duration(
    'Length of an epoch. At its end disabled upstreams are tried again; a sticky session lives two epochs.',
    ['1s', '24h'],
  ).default(settings['epoch-duration'].default),
  healthCheckInterval: duration('Time between two checks of an upstream.', [
    '100ms',
    '24h',
  ]).default(settings['health-check-interval'].default),
  livenessProbeInterval: duration(
    'Time between two light probes, which run between health checks. Unset: none.',
    ['100ms', '24h'],
    '5s',
  ).optional(),
})

/** What one WebSocket connection of a client may take. Unset: the router's own defaults. */
export const webSocket = object('What one WebSocket connection of a client may take.', {
  maxMessageSize: byteSize(
    'The largest message that is taken from a client. Unset: 10Mi.',
    '1Gi',
    '10Mi',
  ).optional(),
  maxCalls: integer(
    'Calls in flight on one connection. More wait, and the connection is not read meanwhile. Unset: 128.',
    [1, 100_000],
    128,
  ).optional(),
  maxSubscriptions: integer(
    'Subscriptions of one connection. Unset: 100.',
    [0, 100_000],
    100,
  ).optional(),
  maxBufferedSize: byteSize(
    'Answers and notifications that wait for a client which does not read. With more, no more calls are taken on, and it is closed with 1008. Unset: 8Mi.',
    '1Gi',
    '8Mi',
  ).optional(),
  idleTimeout: duration(
    'A connection without a call or a subscription for this long is closed with 1000. Unset: 10m.',
    ['1s', '24h'],
    '10m',
  ).optional(),
})

/** How subscriptions stay without gaps. Unset: the router's own defaults. */
export const subscriptions = object('How subscriptions are kept whole.', {
  maxGapBlocks: integer(
    'Missed blocks that are made up for when a subscription moves to another upstream. With more, its clients are disconnected with a reason. Unset: 1000.',
    [1, 100_000],
    1000,
  ).optional(),
  stallBlocks: integer(
    'Block times without events, at least 3s, after which the upstream of a subscription is checked for a stall. Unset: 3.',
    [1, 10_000],
    3,
  ).optional(),
})
