// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { tiers } from '../../proxy/config/types.ts'
import { immutable, object, oneOf, withRules } from './field.ts'
import { apiVersion, upstreamProviderNames } from './group.ts'
import { apiInterface, chainId, label } from './names.ts'
import { nodeUrls } from './node-urls.ts'
import { objectMeta } from './object-meta.ts'
import { upstreamProviderStatus } from './status.ts'
import { variables } from './refs.ts'

const unknownVariable = 'every ${NAME} in a url must be the name of one of variables'
const another = 'create another UpstreamProvider'

const spec = object(
  {
    chainId: chainId({
      description: 'Chain that it serves, by the id or an alias of its spec. Cannot change.',
      example: 'ETH1',
      rules: [immutable('chainId', another)],
    }),
    apiInterface: apiInterface({
      description: 'Interface that it serves. The chain must have it. Cannot change.',
      example: 'jsonrpc',
      rules: [immutable('apiInterface', another)],
    }),
    upstreamName: label('upstreamName', {
      description:
        'Name of the upstream in metrics and headers, and the value of rpc-select-provider. Unique among the providers of a router that serve the same chain and interface. Unset: the name of the object. Cannot change.',
      example: 'alpha',
      rules: [immutable('upstreamName', another)],
    }).optional(),
    groupLabel: label('groupLabel', {
      description:
        'Free label for a group of upstreams. Cross-validation can ask that answers come from several groups.',
      example: 'external',
    }).optional(),
    tier: oneOf(tiers, {
      description: 'primary serves; backup takes over when no primary upstream is left.',
      example: 'primary',
    }).default('primary'),
    nodeUrls,
    variables: variables.optional(),
  },
  {
    description: 'What the upstream is and how it is reached.',
    rules: [
      {
        rule: 'has(self.upstreamName) == has(oldSelf.upstreamName)',
        message: `upstreamName must not come or go: ${another}`,
        fieldPath: '.upstreamName',
      },
      {
        rule: "has(self.variables) || !self.nodeUrls.exists(u, u.url.replace('$${', '').contains('${'))",
        message: unknownVariable,
        fieldPath: '.nodeUrls',
      },
      {
        rule: "!has(self.variables) || self.nodeUrls.all(u, u.url.replace('$${', '').split('${').size() == 1 + self.variables.map(v, u.url.replace('$${', '').split('${' + v.name + '}').size() - 1).sum())",
        message: unknownVariable,
        fieldPath: '.nodeUrls',
      },
    ],
  },
)

/** An upstream: one provider's node for one chain and interface. */
export const upstreamProviderSchema = z
  .object({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(upstreamProviderNames.kind),
    metadata: objectMeta,
    spec,
    status: upstreamProviderStatus.optional(),
  })
  .meta({
    description:
      "An upstream: one provider's node for one chain and interface. An RpcRouter of the same namespace picks it by its labels.",
    ...withRules([
      {
        rule: 'self.metadata.name.size() <= 63',
        message: 'metadata.name must be at most 63 characters: it stands in headers and metrics',
      },
    ]),
  })

/** An UpstreamProvider as the API server gives it: with defaults. */
export type UpstreamProvider = z.output<typeof upstreamProviderSchema>
