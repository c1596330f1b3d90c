// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { list, object, text } from './field.ts'
import { valueFrom } from './refs.ts'

const variable = object(
  {
    name: text({
      description: 'Name by which the URLs and values of this provider call it.',
      example: 'API_KEY',
      max: 64,
      pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
      must: 'name must be letters, digits and underscores, and must not begin with a digit',
    }),
    valueFrom: valueFrom('valueFrom', {
      description: 'Where the value stands.',
      example: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } },
    }),
  },
  {
    description: 'A variable.',
    example: {
      name: 'API_KEY',
      valueFrom: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } },
    },
  },
)

/** Values from Secrets and ConfigMaps that texts of a provider can name. */
export const variables = list(variable, {
  description:
    'Values from Secrets and ConfigMaps. `${NAME}` in a url, a header value or a query value stands for one. A key that is part of a URL can be said in no other way.',
  example: [
    { name: 'API_KEY', valueFrom: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } } },
  ],
  max: 32,
  kind: ['name'],
})
