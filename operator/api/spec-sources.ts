// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { list, object, oneOf } from './field.ts'
import { dataKey, httpUrl, objectName } from './names.ts'

const configMap = object(
  'A ConfigMap of the same namespace; each key is the file of one chain.',
  {
    name: objectName('Name of the ConfigMap.', 'our-chains'),
    keys: list(
      'The keys that are specs. Unset: all.',
      dataKey('A key of its data.', 'ourchain.yml'),
      { min: 1, max: 64, kind: 'set' },
    ).optional(),
  },
  { name: 'our-chains' },
)

const specSource = object(
  'Where chain specs come from.',
  {
    type: oneOf(
      'Bundled: those of the image. ConfigMap: yours. Url: an archive of a repository.',
      ['Bundled', 'ConfigMap', 'Url'],
      'ConfigMap',
    ),
    configMap: configMap.optional(),
    url: httpUrl(
      'URL of the archive of a repository, read when a pod starts.',
      'https://git.example.com/chains/specs/archive/v1.2.0.tar.gz',
    ).optional(),
  },
  { type: 'ConfigMap', configMap: { name: 'our-chains' } },
  {
    'configMap must be set with type ConfigMap, and with no other':
      "(self.type == 'ConfigMap') == has(self.configMap)",
    'url must be set with type Url, and with no other': "(self.type == 'Url') == has(self.url)",
  },
)

/** Where the specs of the chains come from. */
export const specSources = list(
  'Where the specs of the chains come from; later ones win. Unset: the bundled ones alone. When it is set, the bundled ones count only if they are listed.',
  specSource,
  {
    example: [{ type: 'Bundled' }, { type: 'ConfigMap', configMap: { name: 'our-chains' } }],
    min: 1,
    max: 16,
    kind: 'atomic',
  },
)

export type SpecSource = z.output<typeof specSource>
