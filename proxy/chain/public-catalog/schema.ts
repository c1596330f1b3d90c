// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { apiInterfaces } from '../../config/types.ts'

/*
 * The subset of the public catalog's format that the router reads. Unknown keys are ignored,
 * because the owners of the format extend it.
 */

const collectionData = z.object({
  api_interface: z.enum(apiInterfaces),
  internal_path: z.string(),
  type: z.string(),
  add_on: z.string(),
})

const blockParsing = z.object({
  parser_func: z.string().default('EMPTY'),
  parser_arg: z.array(z.string()).default([]),
  default_value: z.string().optional(),
  encoding: z.string().optional(),
})

const genericParser = z.object({
  parse_path: z.string(),
  parse_type: z.string(),
})

const api = z.object({
  name: z.string().min(1),
  enabled: z.boolean(),
  compute_units: z.number().min(0).default(10),
  timeout_ms: z.number().min(0).optional(),
  block_parsing: blockParsing.optional(),
  category: z
    .object({
      deterministic: z.boolean().default(false),
      local: z.boolean().default(false),
      subscription: z.boolean().default(false),
      stateful: z.number().default(0),
      hanging_api: z.boolean().default(false),
    })
    .optional(),
  parsers: z.array(genericParser).optional(),
})

const directive = z.object({
  function_tag: z.string().default('VERIFICATION'),
  function_template: z.string().optional(),
  api_name: z.string().optional(),
  result_parsing: blockParsing.optional(),
  parsers: z.array(genericParser).optional(),
})

const verification = z.object({
  name: z.string().min(1),
  parse_directive: directive.optional(),
  values: z
    .array(
      z.object({
        expected_value: z.string().optional(),
        extension: z.string().optional(),
        severity: z.string().optional(),
      }),
    )
    .optional(),
})

const collection = z.object({
  enabled: z.boolean(),
  collection_data: collectionData,
  apis: z.array(api).default([]),
  headers: z.array(z.object({ name: z.string().min(1), kind: z.string() })).default([]),
  inheritance_apis: z.array(collectionData).default([]),
  parse_directives: z.array(directive).default([]),
  verifications: z.array(verification).default([]),
  extensions: z
    .array(
      z.object({
        name: z.string().min(1),
        rule: z.object({ block: z.number().min(0).optional() }).optional(),
      }),
    )
    .default([]),
})

const spec = z.object({
  index: z.string().min(1),
  name: z.string().min(1),
  enabled: z.boolean(),
  imports: z.array(z.string()).nullish(),
  average_block_time: z.number().positive(),
  allowed_block_lag_for_qos_sync: z.number().min(0),
  block_distance_for_finalized_data: z.number().min(0),
  api_collections: z.array(collection).default([]),
})

export const catalogSpecsSchema = z.object({
  proposal: z.object({ specs: z.array(spec) }),
})

export type CatalogSpec = z.output<typeof spec>
export type CatalogCollection = z.output<typeof collection>
export type CatalogCollectionData = z.output<typeof collectionData>
export type CatalogApi = z.output<typeof api>
export type CatalogDirective = z.output<typeof directive>
export type CatalogVerification = z.output<typeof verification>
export type CatalogParsing = z.output<typeof blockParsing>

/** Splits `.result.records[0].sequence` or `.params.[0]` into keys and indexes. */
export function parsePath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d{1,9})\]|[^.[\]]+/g)].map(([text, index]) =>
    index === undefined ? text : Number(index),
  )
}
