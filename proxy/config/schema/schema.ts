// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { list } from '../fields/field.ts'
import { address } from '../fields/fields.ts'
import { apiInterface, chainId } from '../fields/names.ts'
import { relaying, settingNames, settings } from '../settings.ts'
import { crossValidationSchema, responseCacheSchema } from './unbuilt-schema.ts'
import { upstreamSchema } from './upstream-schema.ts'

/** The port of a listener that names none. */
export const defaultPort = 3360

type Relaying = typeof relaying
type RelayShape = { [N in keyof Relaying]: z.ZodOptional<Relaying[N]['field']> }

/** The same settings as at the top of the file, without their defaults. */
const relayShape = Object.fromEntries(
  Object.entries(relaying).map(([name, { field, description }]) => [
    name,
    (field as z.ZodType).optional().describe(description),
  ]),
) as RelayShape

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
  relay: z
    .strictObject(relayShape)
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
  return Object.fromEntries(
    settingNames.map((name) => {
      const { field, repeatable, description, default: defaultText } = settings[name]
      const value: z.ZodType = repeatable ? list(field) : field
      const meta = { description, ...(defaultText !== null && { 'x-default': defaultText }) }
      return [name, value.optional().meta(meta)]
    }),
  )
}
