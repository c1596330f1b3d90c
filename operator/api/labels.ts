// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type About, type Rule, list, type mapOf, object, oneOf, text, textMap } from './field.ts'
import type { z } from 'zod'

/*
 * What the API server takes as keys and values of labels. In the syntax that RE2 and JavaScript share.
 */

export const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/
const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const qualifiedName = new RegExp(`^(${subdomain}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
const wholeSubdomain = new RegExp(`^${subdomain}$`)

const mostOfKey = 317
const mostOfSubdomain = 253

/** The form of a key, in words. */
export const keyForm =
  'at most 63 letters, digits, -, _ and ., with a letter or a digit at both ends, and before it, if wanted, a DNS name and a /'
/** The form of a value, in words. */
export const valueForm =
  'at most 63 letters, digits, -, _ and ., and a letter or a digit at both ends'

/** The form of the name of most objects, in words. */
export const subdomainForm =
  'at most 253 lower-case letters, digits, - and ., and letters or digits at both ends and beside each .'

/** Whether a text can be the key of a label, also a finalizer and, in lower case, the key of an annotation. */
export function isQualifiedName(key: string): boolean {
  return key.length <= mostOfKey && key.indexOf('/') <= mostOfSubdomain && qualifiedName.test(key)
}

/** Whether a text can be the name of most objects. */
export function isSubdomain(name: string): boolean {
  return name.length <= mostOfSubdomain && wholeSubdomain.test(name)
}

/** A text in the form of a label's key. */
export function labelKey(name: string, about: { description: string; example: string }) {
  const must = `${name} must have ${keyForm}`
  return text({ ...about, max: mostOfKey, pattern: qualifiedName, must })
}

/** A text in the form of the name of an object. */
export function subdomainName(name: string, about: { description: string; example: string }) {
  const must = `${name} must have ${subdomainForm}`
  return text({ ...about, max: mostOfSubdomain, pattern: wholeSubdomain, must })
}

type LabelMapOptions = Omit<Parameters<typeof mapOf>[1], 'rules'> & {
  readonly rules?: readonly Rule[]
}

/** A map of labels. Its values alone: keys of a map have no bound, so that a rule about them would cost too much. */
export function labelMap(
  name: string,
  { rules = [], ...about }: LabelMapOptions,
): z.ZodRecord<z.ZodString, z.ZodString> {
  const values = {
    rule: `self.all(k, self[k].matches(r'${labelValue.source}'))`,
    message: `${name} must have values of ${valueForm}`,
  }
  return textMap({ ...about, maxValueLength: 63, rules: [...rules, values] })
}

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
