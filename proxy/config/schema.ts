// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { crossValidationSchema } from './cross-validation-schema.ts'
import { address } from './fields.ts'
import { apiInterface, chainId } from './names.ts'
import { responseCacheSchema } from './response-cache-schema.ts'
import { list } from './section.ts'
import { settingNames, settings } from './settings.ts'
import { upstreamSchema } from './upstream-schema.ts'

/** The port of a listener that names none. */
export const defaultPort = 3360

const relaySchema = z.strictObject({
  strategy: settings.strategy.field.optional().describe('How upstreams are chosen.'),
  'set-relay-retry-limit': settings['set-relay-retry-limit'].field
    .optional()
    .describe('Retries after the first attempt. 0: no retry and no hedge.'),
  'max-relay-attempts': settings['max-relay-attempts'].field
    .optional()
    .describe('Attempts of all kinds for one call.'),
  'default-processing-timeout': settings['default-processing-timeout'].field
    .optional()
    .describe('The whole time that one call may take.'),
  'min-relay-timeout': settings['min-relay-timeout'].field
    .optional()
    .describe('The least time that the router itself gives an attempt.'),
  integrity: settings.integrity.field.optional().describe('How answers are checked.'),
  'retry-missing-blocks': settings['retry-missing-blocks'].field
    .optional()
    .describe('Ask another upstream when one answers null for a block that exists.'),
})

const endpointSchema = z.strictObject({
  'network-address': address(defaultPort)
    .optional()
    .meta({ 'x-default': `0.0.0.0:${defaultPort}` })
    .describe('Bind address. Without a host: all interfaces.'),
  'listen-address': address(defaultPort).optional().describe('Another name of `network-address`.'),
  'chain-id': chainId().describe(
    'Chain that is served, by the id or an alias of its spec, such as `ETH1`.',
  ),
  'api-interface': apiInterface().describe('Interface that is served. The chain must have it.'),
  relay: relaySchema
    .optional()
    .describe('What this listener does otherwise than the settings at the top and the flags say.'),
})

/** The whole file: the sections, and every process-wide setting as a key of its own. */
export const configSchema = z.strictObject({
  endpoints: list(endpointSchema, 1).describe('Listeners: one per chain and interface.'),
  'direct-rpc': list(upstreamSchema).describe('Primary upstreams.'),
  'backup-direct-rpc': list(upstreamSchema)
    .optional()
    .describe('Upstreams that take over when no primary one is left.'),
  'cross-validation': crossValidationSchema
    .optional()
    .describe('Which answers are compared between upstreams before one is given.'),
  'resp-cache': responseCacheSchema.optional().describe('A key-value store as cache backend.'),
  ...settingShape(),
})

export type ConfigFile = z.output<typeof configSchema>

function settingShape(): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {}
  for (const name of settingNames) {
    const { field, repeatable, description, default: defaultText } = settings[name]
    const value: z.ZodType = repeatable ? list(field) : field
    const meta = defaultText === null ? { description } : { description, 'x-default': defaultText }
    shape[name] = value.optional().meta(meta)
  }
  return shape
}
