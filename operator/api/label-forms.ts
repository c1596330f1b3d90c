// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type mapOf, type Rule, text, textMap } from './field.ts'
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
