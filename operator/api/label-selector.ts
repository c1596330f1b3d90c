// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { type About, list, object, oneOf, text, textMap } from './field.ts'

const requirement = object(
  {
    key: text({ description: 'The label.', example: 'tier', max: 317 }),
    operator: oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], {
      description: 'How the label relates to the values.',
      example: 'In',
    }),
    values: list(text({ description: 'A value of the label.', example: 'paid', min: 0, max: 63 }), {
      description: 'The values. Required with In and NotIn, refused with the others.',
      example: ['paid', 'own'],
      max: 32,
      kind: 'atomic',
    }).optional(),
  },
  {
    description: 'One requirement; all must hold.',
    example: { key: 'tier', operator: 'In', values: ['paid'] },
    rules: [
      {
        rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
        message:
          'values must be set with In and NotIn, and must not be set with Exists and DoesNotExist',
      },
    ],
  },
)

/** Labels that objects must have. Empty matches every object. */
export function labelSelector(about: About) {
  return object(
    {
      matchLabels: textMap({
        description: 'Labels that an object must have, with these values.',
        example: { 'rpc.example.com/pool': 'mainnet' },
        max: 16,
        maxValueLength: 63,
      }).optional(),
      matchExpressions: list(requirement, {
        description: 'Requirements on labels; all must hold.',
        example: [{ key: 'tier', operator: 'In', values: ['paid'] }],
        max: 16,
        kind: 'atomic',
      }).optional(),
    },
    about,
  ).meta({ ...about, 'x-kubernetes-map-type': 'atomic' })
}

export type LabelSelector = z.output<ReturnType<typeof labelSelector>>
