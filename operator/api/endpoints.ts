// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { defaultPort } from '../../proxy/config/schema.ts'
import { integer, list, object, text } from './field.ts'
import { apiInterface, chainId } from './names.ts'
import { endpointRelay } from './relay.ts'

const endpoint = object(
  'A listener.',
  {
    name: text(
      'Name of the endpoint, and of its port in the Service. Lower-case letters, digits and dashes.',
      {
        example: 'eth1',
        max: 15,
        pattern: /^[a-z]([a-z0-9]|-[a-z0-9])*$/,
        must: 'name must be lower-case letters, digits and single dashes, and begin with a letter',
        rules: {
          "name must not be metrics, which is the name of the router's own port":
            "self != 'metrics'",
        },
      },
    ),
    port: integer(
      'Port of the listener in the pods and in the Service: 3360 to 3367, any from 1024 with spec.portRange Custom.',
      [1024, 65_535],
    ).default(defaultPort),
    chainId: chainId('Chain that is served, by the id or an alias of its spec.', 'ETH1'),
    apiInterface: apiInterface('Interface that is served. The chain must have it.', 'jsonrpc'),
    relay: endpointRelay.optional(),
  },
  { name: 'eth1', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
)

export const endpoints = list('Listeners: one per chain and interface.', endpoint, {
  min: 1,
  max: 64,
  kind: ['name'],
  rules: {
    'endpoints must have different ports': 'self.all(a, self.exists_one(b, a.port == b.port))',
  },
})

export type Endpoint = z.output<typeof endpoint>
