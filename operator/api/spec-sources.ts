// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { list, object, oneOf, text } from './field.ts'
import { dataKey, objectName, urlPort } from './names.ts'

const configMap = object(
  {
    name: objectName('name', { description: 'Name of the ConfigMap.', example: 'our-chains' }),
    keys: list(dataKey('keys', { description: 'A key of its data.', example: 'ourchain.yml' }), {
      description: 'The keys that are specs. Unset: all.',
      example: ['ourchain.yml'],
      min: 1,
      max: 64,
      kind: 'set',
    }).optional(),
  },
  {
    description: 'A ConfigMap of the same namespace; each key is the file of one chain.',
    example: { name: 'our-chains' },
  },
)

const specSource = object(
  {
    type: oneOf(['Bundled', 'ConfigMap', 'Url'], {
      description:
        'Bundled: those of the image. ConfigMap: yours. Url: an archive of a repository.',
      example: 'ConfigMap',
    }),
    configMap: configMap.optional(),
    url: text({
      description: 'URL of the archive of a repository, read when a pod starts.',
      example: 'https://git.example.com/chains/specs/archive/v1.2.0.tar.gz',
      max: 2048,
      pattern: /^https?:\/\/[^\s@/]+(\/[^\s]*)?$/,
      must: 'url must be an http or https URL without a user, a password and spaces',
      rules: [urlPort('url')],
    }).optional(),
  },
  {
    description: 'Where chain specs come from.',
    example: { type: 'ConfigMap', configMap: { name: 'our-chains' } },
    rules: [
      {
        rule: "(self.type == 'ConfigMap') == has(self.configMap)",
        message: 'configMap must be set with type ConfigMap, and with no other',
      },
      {
        rule: "(self.type == 'Url') == has(self.url)",
        message: 'url must be set with type Url, and with no other',
      },
    ],
  },
)

/** Where the specs of the chains come from. */
export const specSources = list(specSource, {
  description:
    'Where the specs of the chains come from; later ones win. Unset: the bundled ones alone. When it is set, the bundled ones count only if they are listed.',
  example: [{ type: 'Bundled' }, { type: 'ConfigMap', configMap: { name: 'our-chains' } }],
  min: 1,
  max: 16,
  kind: 'atomic',
})

export type SpecSource = z.output<typeof specSource>
