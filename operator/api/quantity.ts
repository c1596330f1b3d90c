// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { at, errorOf, mapOf, object, text, withRules } from './field.ts'
import { isQualifiedName } from './labels.ts'
import { z } from 'zod'

const factors: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map(
    (unit, index) => [unit, 1024 ** (index + 1)] as const,
  ),
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((unit, index) => [unit, 1000 ** (index + 1)] as const),
  ['m', 1e-3],
  ['u', 1e-6],
  ['n', 1e-9],
])

/** Parses a Kubernetes quantity, such as `250m` (0.25) and `1Ki` (1024); null if invalid. */
export function quantityValue(quantity: string | number | undefined): number | null {
  const text = String(quantity ?? '')
  const [, amount, unit = '', exponent] =
    /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i|[numkMGTPE]?)|[eE]([+-]?\d+))$/.exec(text) ?? []
  const factor = exponent === undefined ? factors.get(unit) : 10 ** Number(exponent)
  return amount === undefined || factor === undefined ? null : Number(amount) * factor
}

/** Whether two quantities are equal in any notation, because the API server normalizes them. */
export function isSameQuantity(a: string | number, b: string | number): boolean {
  const [left, right] = [quantityValue(a), quantityValue(b)]
  if (left === null || right === null) return a === b
  return Math.abs(left - right) <= 4 * Number.EPSILON * Math.abs(left)
}

const durationPattern = /^([0-9]{1,5}(h|m|s|ms)){1,4}$/

/** A duration in Go's syntax, within limits. */
export function duration(
  description: string,
  [min, max]: readonly [min: string, max: string],
  example?: string,
): z.ZodString {
  const bounds = `duration(self) >= duration('${min}') && duration(self) <= duration('${max}')`
  return text(description, {
    example,
    max: 32,
    pattern: durationPattern,
    must: `{field} must be a duration such as 500ms, 5s or 1m30s, from ${min} to ${max}`,
    rules: {
      [`{field} must be from ${min} to ${max}`]: `!self.matches(r'${durationPattern.source}') || (${bounds})`,
    },
  })
}

const byteSizePattern = /^[1-9][0-9]{0,9}(Ki|Mi|Gi)?$/

/** A size in bytes, such as `10Mi`, up to a maximum. */
export function byteSize(description: string, max: string, example?: string): z.ZodString {
  const bound = `quantity(self).compareTo(quantity('${max}')) <= 0`
  return text(description, {
    example,
    max: 16,
    pattern: byteSizePattern,
    must: `{field} must be a size such as 512Ki, 10Mi or 1Gi, at most ${max}`,
    rules: {
      [`{field} must be at most ${max}`]: `!self.matches(r'${byteSizePattern.source}') || ${bound}`,
    },
  })
}

const quantityPattern =
  /^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+([.][0-9]*)?)?$/

/**
 * A non-negative number, or a string of this pattern.
 * @param check CEL for the string
 */
function intOrString(
  description: string,
  pattern: RegExp,
  must: string,
  example: unknown,
  check = `self.matches(r'${pattern.source}')`,
) {
  const rule = `type(self) == int ? self >= 0 : ${check}`
  const error = errorOf(must)
  return z.union([z.int().min(0), z.string().max(32).regex(pattern, { error })]).meta({
    description,
    example,
    'x-kubernetes-int-or-string': true,
    ...withRules({ [must]: rule }),
  })
}

/** A Kubernetes quantity: `500m`, `256Mi`, `2`. */
export function quantity(description: string, example: string) {
  const must = '{field} must be a quantity such as 500m, 256Mi or 2'
  const check = "isQuantity(self) && !self.startsWith('-')"
  return intOrString(description, quantityPattern, must, example, check)
}

/** A number or percentage of pods: `1`, `25%`. */
export function countOrPercent(description: string) {
  const must = '{field} must be a number of pods such as 1, or a percentage such as 25%'
  return intOrString(description, /^(0|[1-9][0-9]{0,2})%$/, must, undefined)
}

/**
 * Before 1.34, Kubernetes estimates the cost of each amount as if it had megabytes. With eight, the
 * comparison of requests and limits would exceed the budget of a rule.
 */
const maxAmounts = 7

function amounts(description: string, example: object) {
  const amount = quantity('The amount.', '256Mi')
  return mapOf(description, amount, { example, max: maxAmounts, keyFault: resourceFault })
}

function resourceFault(name: string): string | null {
  const isOwn = /^(?:cpu|memory|ephemeral-storage|hugepages-\w+)$/.test(name)
  if (isOwn || (name.includes('/') && isQualifiedName(name))) return null
  return `${JSON.stringify(name)} must be cpu, memory, ephemeral-storage, hugepages- and a size, or a name with a domain and '/' before it`
}

/** Requests and limits of a container. */
export function resources(description: string) {
  return object(
    description,
    {
      requests: amounts('Resources reserved for the container.', {
        cpu: '500m',
        memory: '512Mi',
      }).optional(),
      limits: amounts('Maximum usage. A CPU limit is seldom useful, since it adds latency.', {
        memory: '512Mi',
      }).optional(),
    },
    {
      'requests must be at most limits': at(
        '.requests',
        '!has(self.requests) || !has(self.limits) || self.requests.all(k, !(k in self.limits) || quantity(string(self.requests[k])).compareTo(quantity(string(self.limits[k]))) <= 0)',
      ),
    },
  )
}

export type Resources = z.output<ReturnType<typeof resources>>
