// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { list, optional } from './fields/field.ts'
import { apiInterface, boolean, chainId, integer, text } from './fields/fields.ts'
import { Scalar } from './yaml/scalar.ts'

/** Keyword on a map that accepts a bare value; it names the key that the value sets. */
export const bareKeyword = 'x-bare'

/** Schema of a minimum and a maximum; a bare number is the minimum. */
function bounds(floor: string, cap: string) {
  const floorOf = (value: unknown) => (value instanceof Scalar ? { floor: value } : value)
  const shape = z.strictObject({
    floor: integer(1, 1_000).optional().describe(floor),
    cap: integer(1, 1_000).optional().describe(cap),
  })
  return z
    .preprocess(floorOf, shape)
    .optional()
    .meta({ [bareKeyword]: 'floor' })
}

const method = text({
  kind: 'name of a method',
  pattern: /^[!-~]{1,256}$/,
  fault: 'cannot be the name of a method',
  hint: 'Write it as in the reference of the chain, a path without its verb: eth_getBalance, /blocks/{height}, sdk.bank.v1beta1.Query/TotalSupply.',
})

const fieldPath = text({
  kind: 'path of a field',
  pattern: /^[^\s.]+(\.[^\s.]+)*$/,
  fault: 'cannot be the path of a field',
  hint: 'Write names with dots between them, from the result down: context.slot; * is every element of a list.',
})

const policySchema = z.strictObject({
  'chain-id': chainId.describe('Chain, by the id or an alias of its spec.'),
  'api-interface': apiInterface.describe('Interface.'),
  method: method.describe(
    'Method, or the pattern of a path without its verb, as the chain spec names it.',
  ),
  enabled: optional(boolean, 'true').describe('Whether the policy is active.'),
  'agreement-threshold': bounds(
    'At least so many; what a caller asks for is raised to it.',
    'At most so many; what a caller asks for is cut to it.',
  ).describe(
    'How many answers must match. A number alone is the floor. With a floor here, under `max-participants` or under `min-groups`, every call is cross-validated; without one those whose headers ask for it.',
  ),
  'max-participants': bounds(
    'At least so many; what a caller asks for is raised to it.',
    'At most so many; what a caller asks for is cut to it.',
  ).describe(
    'How many upstreams to query. A number alone is the floor. A floor below `agreement-threshold` is raised to it.',
  ),
  'min-groups': bounds(
    'At least so many.',
    'Without effect: callers cannot ask for groups.',
  ).describe(
    'How many groups (`group-label`) the matching answers must come from. A number alone is the floor.',
  ),
  'per-group-quorum': optional(integer(1, 1_000), '1').describe(
    'How many answers must match within a group, for the group to count.',
  ),
  'one-vote-per-group': optional(boolean, 'false').describe(
    'Query one upstream per group, so that two keys of one vendor have one vote.',
  ),
  'ignore-fields': optional(list(fieldPath)).describe(
    'Fields of the result that differ by node, such as `context.slot`; they are not compared.',
  ),
  'forbid-caller-cv': optional(boolean, 'false').describe(
    'Refuse calls whose headers ask for cross-validation of this method.',
  ),
})

export const crossValidationSchema = z.strictObject({
  policies: list(policySchema, 1).describe('One policy per chain, interface and method.'),
})

export type PolicyEntry = z.output<typeof policySchema>

/** Requirements for the calls of one method. Infinity: no limit. */
export type PolicyConfig = ReturnType<typeof buildPolicy>

export function buildPolicy(entry: PolicyEntry) {
  const { floor, cap: maxAgreement = Infinity } = entry['agreement-threshold'] ?? {}
  const { floor: participants = 0, cap: maxParticipants = Infinity } =
    entry['max-participants'] ?? {}
  const minGroups = entry['min-groups']?.floor ?? 1
  const perGroupQuorum = entry['per-group-quorum'] ?? 1
  const minGrouped = minGroups * perGroupQuorum
  const majority = participants && Math.floor(participants / 2) + 1
  return {
    chainId: entry['chain-id'],
    apiInterface: entry['api-interface'],
    method: entry.method,
    /** Matching answers required. 0: cross-validate only when the caller asks for it. */
    agreement: floor ?? (majority || (minGrouped > 1 ? minGrouped : 0)),
    maxAgreement,
    participants,
    maxParticipants,
    minGroups,
    perGroupQuorum,
    oneVotePerGroup: entry['one-vote-per-group'] ?? false,
    ignoreFields: entry['ignore-fields'] ?? [],
    forbidsCallers: entry['forbid-caller-cv'] ?? false,
  }
}

/** Policy for all other methods; it requires nothing. */
export const noPolicy = buildPolicy({
  'chain-id': '',
  'api-interface': 'jsonrpc',
  method: '',
})
