// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { settings } from '../../proxy/config/settings.ts'
import { integrityLevels, logVerifications, strategies } from '../../proxy/config/types.ts'
import { described } from './described.ts'
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

const ofPolicy = (key: string) => described(`cross-validation.policies.${key}`)

const policy = object(
  'Policy of one method.',
  {
    chainId: chainId(ofPolicy('chain-id'), 'ETH1'),
    apiInterface: apiInterface(ofPolicy('api-interface'), 'jsonrpc'),
    method: method(ofPolicy('method'), 'eth_getBalance'),
    enabled: boolean(ofPolicy('enabled')).default(true),
    agreementThreshold: bounds('Number of answers that must match.').optional(),
    maxParticipants: bounds(
      'Number of upstreams to query. A floor below that of agreementThreshold is raised to it.',
    ).optional(),
    minGroups: object('Number of groups that the matching answers must come from.', {
      floor: count('Minimum.', 2),
    }).optional(),
    perGroupQuorum: count(ofPolicy('per-group-quorum'), 1).optional(),
    oneVotePerGroup: boolean(ofPolicy('one-vote-per-group')).default(false),
    ignoreFields: list(
      ofPolicy('ignore-fields'),
      text('Path of names separated by dots, below the result; * matches every list element.', {
        example: 'context.slot',
        max: 128,
        pattern: /^[^\s.]+(\.[^\s.]+)*$/,
        must: 'ignoreFields must have names with dots between them',
      }),
      { max: 16, kind: 'set' },
    ).optional(),
    forbidCallers: boolean(ofPolicy('forbid-caller-cv')).default(false),
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
    policies: list(described('cross-validation.policies'), policy, {
      min: 1,
      max: 128,
      kind: ['chainId', 'apiInterface', 'method'],
    }),
  },
)

const relayFields = {
  strategy: oneOf(described('strategy'), strategies, 'latency'),
  retryLimit: integer(described('set-relay-retry-limit'), [0, 100], 2),
  maxAttempts: integer(described('max-relay-attempts'), [1, 1000], 10),
  processingTimeout: duration(described('default-processing-timeout'), ['1ms', '24h'], '30s'),
  minRelayTimeout: duration(described('min-relay-timeout'), ['0s', '24h'], '1s'),
  integrity: oneOf(
    described('integrity', 'Write "off" in quotes, since YAML reads off as false.'),
    integrityLevels,
    'core',
  ),
  retryMissingBlocks: boolean(described('retry-missing-blocks'), false),
}

/** Relay settings of one listener. They override the router's. */
export const endpointRelay = object(
  'Relay settings of this listener, which override spec.relay.',
  z.object(relayFields).partial().shape,
)

function defaultCount(name: keyof typeof settings): number {
  return Number(settings[name].default)
}

/** Relay settings of a router. The defaults are those of the router itself. */
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

/** Settings of upstreams. The defaults are those of the router itself. */
export const upstreamSettings = object('How upstreams are checked and disabled.', {
  maxSessionsPerProvider: integer(described('max-sessions-per-provider'), [1, 1_000_000]).default(
    defaultCount('max-sessions-per-provider'),
  ),
  failureThreshold: integer(described('upstream-failure-threshold'), [1, 1_000_000]).default(
    defaultCount('upstream-failure-threshold'),
  ),
  epochDuration: duration(described('epoch-duration', 'A sticky session lasts two epochs.'), [
    '1s',
    '24h',
  ]).default(settings['epoch-duration'].default),
  healthCheckInterval: duration(described('health-check-interval'), ['100ms', '24h']).default(
    settings['health-check-interval'].default,
  ),
  livenessProbeInterval: duration(
    'Time between two light probes between health checks. Unset: none.',
    ['100ms', '24h'],
    '5s',
  ).optional(),
})

/** Settings of queries for logs. Unset: the router's own defaults. */
export const logs = object(described('logs'), {
  verify: oneOf(
    described(
      'logs.verify',
      'Unset: sample. Write "off" in quotes, since YAML reads off as false.',
    ),
    logVerifications,
    'sample',
  ).optional(),
})

/** Limits of a client's WebSocket connection. Unset: the router's own defaults. */
export const webSocket = object("Limits of a client's WebSocket connection.", {
  maxMessageSize: byteSize(
    described('websocket-max-message-bytes', 'Unset: 10Mi.'),
    '1Gi',
    '10Mi',
  ).optional(),
  maxCalls: integer(
    'Calls in flight on one connection. At the limit the router stops reading from it. Unset: 128.',
    [1, 100_000],
    128,
  ).optional(),
  maxSubscriptions: integer(
    described('websocket-max-subscriptions', 'Unset: 1000.'),
    [0, 100_000],
    100,
  ).optional(),
  maxBufferedSize: byteSize(
    described('websocket-max-buffered-bytes', 'Unset: 8Mi.'),
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
    described('subscription-max-gap-blocks', 'Unset: 1000.'),
    [1, 100_000],
    1000,
  ).optional(),
  stallBlocks: integer(
    described('subscription-stall-blocks', 'Unset: 3.'),
    [1, 10_000],
    3,
  ).optional(),
})
