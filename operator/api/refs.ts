// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { type About, object, text } from './field.ts'
import { dataKey, objectName } from './names.ts'

/** One key of a Secret in the namespace of the object. */
export function secretKeyRef(about: About) {
  return object(
    {
      name: objectName('name', { description: 'Name of the Secret.', example: 'alpha-keys' }),
      key: dataKey('key', { description: 'Key of its data.', example: 'apiKey' }),
    },
    about,
  )
}

/** One key of a ConfigMap in the namespace of the object. */
export function configMapKeyRef(about: About) {
  return object(
    {
      name: objectName('name', { description: 'Name of the ConfigMap.', example: 'node-ca' }),
      key: dataKey('key', { description: 'Key of its data.', example: 'ca.crt' }),
    },
    about,
  )
}

/** A value that stands in a Secret or a ConfigMap. */
export function valueFrom(name: string, about: About) {
  return object(
    {
      secretKeyRef: secretKeyRef({
        description: 'A key of a Secret.',
        example: { name: 'alpha-keys', key: 'apiKey' },
      }).optional(),
      configMapKeyRef: configMapKeyRef({
        description: 'A key of a ConfigMap. For values that are no secret.',
        example: { name: 'node-ca', key: 'ca.crt' },
      }).optional(),
    },
    {
      ...about,
      rules: [
        {
          rule: 'has(self.secretKeyRef) != has(self.configMapKeyRef)',
          message: `${name} must have exactly one of secretKeyRef and configMapKeyRef`,
        },
      ],
    },
  )
}

/** A name with a value that is written out or stands elsewhere. */
export function namedValue(name: z.ZodString, about: About) {
  return object(
    {
      name,
      value: text({
        description:
          'The value. `${NAME}` in it stands for a variable of the provider, `$${NAME}` for that text itself. Anyone who may read the object reads this text: secrets belong into valueFrom or a variable.',
        example: 'Bearer ${API_TOKEN}',
        max: 4096,
        pattern: /^[^\r\n]*$/,
        must: 'value must have no line break',
      }).optional(),
      valueFrom: valueFrom('valueFrom', {
        description: 'Where the value stands.',
        example: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } },
      }).optional(),
    },
    {
      ...about,
      rules: [
        {
          rule: 'has(self.value) != has(self.valueFrom)',
          message: 'it must have exactly one of value and valueFrom',
        },
      ],
    },
  )
}

export type SecretKeyRef = z.output<ReturnType<typeof secretKeyRef>>
export type ConfigMapKeyRef = z.output<ReturnType<typeof configMapKeyRef>>
export type ValueFrom = z.output<ReturnType<typeof valueFrom>>
export type NamedValue = z.output<ReturnType<typeof namedValue>>
