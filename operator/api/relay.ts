// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { settings } from '../../proxy/config/settings.ts'
import { integrityLevels, strategies } from '../../proxy/config/types.ts'
import { boolean, integer, object, oneOf } from './field.ts'
import { duration } from './quantity.ts'

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
