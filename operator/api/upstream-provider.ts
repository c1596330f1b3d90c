// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { tiers } from '../../proxy/config/types.ts'
import { at, immutable, object, oneOf } from './field.ts'
import { upstreamProviderNames } from './group.ts'
import { apiInterface, chainId, label } from './names.ts'
import { nodeUrls } from './node-urls.ts'
import { kindSchema } from './kind-schema.ts'
import { upstreamProviderStatus } from './status.ts'
import { variables } from './refs.ts'

const another = 'create another UpstreamProvider'

const spec = object(
  'What the upstream is and how it is reached.',
  {
    chainId: chainId(
      'Chain that it serves, by the id or an alias of its spec. Cannot change.',
      'ETH1',
      immutable(another),
    ),
    apiInterface: apiInterface(
      'Interface that it serves. The chain must have it. Cannot change.',
      'jsonrpc',
      immutable(another),
    ),
    upstreamName: label(
      'Name of the upstream in metrics and headers, and the value of rpc-select-provider. Unique among the providers of a router that serve the same chain and interface. Unset: the name of the object. Cannot change.',
      'alpha',
      immutable(another),
    ).optional(),
    groupLabel: label(
      'Free label for a group of upstreams. Cross-validation can ask that answers come from several groups.',
      'external',
    ).optional(),
    tier: oneOf(
      'primary serves; backup takes over when no primary upstream is left.',
      tiers,
    ).default('primary'),
    nodeUrls,
    variables: variables.optional(),
  },
  undefined,
  {
    [`upstreamName must not come or go: ${another}`]: at(
      '.upstreamName',
      'has(self.upstreamName) == has(oldSelf.upstreamName)',
    ),
    'every ${NAME} in a url must be the name of one of variables': at(
      '.nodeUrls',
      "has(self.variables) || !self.nodeUrls.exists(u, u.url.replace('$${', '').contains('${'))",
      "!has(self.variables) || self.nodeUrls.all(u, u.url.replace('$${', '').split('${').size() == 1 + self.variables.map(v, u.url.replace('$${', '').split('${' + v.name + '}').size() - 1).sum())",
    ),
  },
)

/** An upstream: one provider's node for one chain and interface. */
export const upstreamProviderSchema = kindSchema(
  upstreamProviderNames.kind,
  "An upstream: one provider's node for one chain and interface. An RpcRouter of the same namespace picks it by its labels.",
  spec,
  upstreamProviderStatus,
  {
    'metadata.name must be at most 63 characters: it stands in headers and metrics':
      'self.metadata.name.size() <= 63',
  },
)

/** An UpstreamProvider as the API server gives it: with defaults. */
export type UpstreamProvider = z.output<typeof upstreamProviderSchema>
