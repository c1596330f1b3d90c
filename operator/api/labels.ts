// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { list, object, oneOf, type Rules, text, textMap } from './field.ts'

/* Valid keys and values of labels, in the syntax that RE2 and JavaScript share. */

const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/
const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const qualifiedName = new RegExp(`^(${subdomain}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
const wholeSubdomain = new RegExp(`^${subdomain}$`)

const maxKeyLength = 317
const maxSubdomainLength = 253

const keyForm =
  'at most 63 letters, digits, -, _ and ., with a letter or a digit at both ends, optionally preceded by a DNS name and a /'
const valueForm = 'at most 63 letters, digits, -, _ and ., and a letter or a digit at both ends'

const subdomainForm =
  'at most 253 lower-case letters, digits, - and ., and letters or digits at both ends and beside each .'

/** Whether a string is a valid key of a label, a finalizer or, in lower case, an annotation. */
export function isQualifiedName(key: string): boolean {
  return (
    key.length <= maxKeyLength && key.indexOf('/') <= maxSubdomainLength && qualifiedName.test(key)
  )
}

/** A string with the form of a label's key. */
export function labelKey(description: string, example: string) {
  const must = `{field} must have ${keyForm}`
  return text(description, { example, max: maxKeyLength, pattern: qualifiedName, must })
}

/** A string with the form of an object's name. */
export function subdomainName(description: string, example: string) {
  const must = `{field} must have ${subdomainForm}`
  return text(description, { example, max: maxSubdomainLength, pattern: wholeSubdomain, must })
}

interface MapOptions {
  readonly example: object
  readonly max: number
  readonly rules?: Rules
}

export function labelMap(
  description: string,
  { rules = {}, ...options }: MapOptions,
): z.ZodRecord<z.ZodString, z.ZodString> {
  const ofValues = {
    [`{field} must have values of ${valueForm}`]: `self.all(k, self[k].matches(r'${labelValue.source}'))`,
  }
  const all = { ...rules, ...ofValues }
  return textMap(description, { ...options, maxValueLength: 63, rules: all, keyFault })
}

/** A map of annotations. The case of the keys does not matter. */
export function annotationMap(
  description: string,
  { faultOf = () => null, ...options }: MapOptions & { faultOf?: (key: string) => string | null },
) {
  const ofLowerCase = (key: string) => keyFault(key.toLowerCase()) ?? faultOf(key.toLowerCase())
  return textMap(description, { ...options, maxValueLength: 4096, keyFault: ofLowerCase })
}

function keyFault(key: string): string | null {
  return isQualifiedName(key) ? null : `the key ${JSON.stringify(key)} must have ${keyForm}`
}

function valueFault(value: string): string | null {
  return labelValue.test(value) ? null : `the value ${JSON.stringify(value)} must have ${valueForm}`
}

const requirement = object(
  'One requirement; all must hold.',
  {
    key: text('The label.', { example: 'tier', max: 317 }),
    operator: oneOf(
      'Relation of the label to the values.',
      ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      'In',
    ),
    values: list(
      'The values. Required with In and NotIn, forbidden with the others.',
      text('A value of the label.', { example: 'paid', min: 0, max: 63 }),
      { example: ['paid', 'own'], max: 32, kind: 'atomic' },
    ).optional(),
  },
  {
    'values must be set with In and NotIn, and must not be set with Exists and DoesNotExist':
      "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
  },
  { key: 'tier', operator: 'In', values: ['paid'] },
)

/** A label selector. An empty one matches every object. */
export function labelSelector(description: string, example: object) {
  return object(description, {
    matchLabels: textMap('Required labels with their values.', {
      example: { 'rpc.example.com/pool': 'mainnet' },
      max: 16,
      maxValueLength: 63,
    }).optional(),
    matchExpressions: list('Requirements on labels; all must hold.', requirement, {
      example: [{ key: 'tier', operator: 'In', values: ['paid'] }],
      max: 16,
      kind: 'atomic',
    }).optional(),
  })
    .superRefine(({ matchLabels = {}, matchExpressions = [] }, context) => {
      const keys = [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)]
      const values = [
        ...Object.values(matchLabels),
        ...matchExpressions.flatMap((each) => each.values ?? []),
      ]
      for (const fault of [...keys.map(keyFault), ...values.map(valueFault)])
        if (fault !== null) context.addIssue(fault)
    })
    .meta({ description, example, 'x-kubernetes-map-type': 'atomic' })
}

export type LabelSelector = z.output<ReturnType<typeof labelSelector>>

type Labels = Readonly<Record<string, string>>

/** Whether a selector matches labels. An empty one matches all, an absent one matches none. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => valueAt(labels, key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = valueAt(labels, key)
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value)
        case 'NotIn':
          return value === undefined || !values.includes(value)
        case 'Exists':
          return value !== undefined
        case 'DoesNotExist':
          return value === undefined
      }
    })
  )
}

function valueAt(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}
