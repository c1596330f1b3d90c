// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { type Rules, withRules } from './field.ts'
import { apiVersion } from './group.ts'

const ownerReference = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
  blockOwnerDeletion: z.boolean().optional(),
})

/** What we read of the metadata of an object. The API server has a schema of its own for it. */
const objectMeta = z.object({
  name: z.string(),
  namespace: z.string().default('default'),
  uid: z.string().default(''),
  resourceVersion: z.string().optional(),
  generation: z.int().default(0),
  /** RFC 3339. */
  creationTimestamp: z.string().optional(),
  /** RFC 3339. */
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  ownerReferences: z.array(ownerReference).optional(),
})

/** A kind of ours: what its objects are made of. */
export function kindSchema<
  const Kind extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType,
>(kind: Kind, description: string, spec: Spec, status: Status, rules: Rules) {
  return z
    .object({
      apiVersion: z.literal(apiVersion),
      kind: z.literal(kind),
      metadata: objectMeta,
      spec,
      status: status.optional(),
    })
    .meta({ description, ...withRules(rules) })
}
