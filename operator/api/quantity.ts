// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type About, mapOf, object, text, withRules } from './field.ts'
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

/** What a quantity of Kubernetes comes to, such as 0.25 for `250m` and 1024 for `1Ki`; null for what is none. */
export function quantityValue(quantity: string | number | undefined): number | null {
  const text = String(quantity ?? '')
  const [, amount, unit = '', exponent] =
    /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i|[numkMGTPE]?)|[eE]([+-]?\d+))$/.exec(text) ?? []
  const factor = exponent === undefined ? factors.get(unit) : 10 ** Number(exponent)
  return amount === undefined || factor === undefined ? null : Number(amount) * factor
}

/** Whether two quantities are the same amount, however they are written: the API server writes them in its own way. */
export function isSameQuantity(a: string | number, b: string | number): boolean {
  const [left, right] = [quantityValue(a), quantityValue(b)]
  if (left === null || right === null) return a === b
  return Math.abs(left - right) <= 4 * Number.EPSILON * Math.abs(left)
}

const durationPattern = /^([0-9]{1,5}(h|m|s|ms)){1,4}$/

interface DurationOptions extends About {
  /** The field, as messages name it. */
  readonly name: string
  readonly min: string
  readonly max: string
}

/** A duration as Go writes it, within bounds. */
export function duration({ name, min, max, ...about }: DurationOptions): z.ZodString {
  const pattern = durationPattern.source
  const bounds = `duration(self) >= duration('${min}') && duration(self) <= duration('${max}')`
  const rules = [
    {
      rule: `!self.matches(r'${pattern}') || (${bounds})`,
      message: `${name} must be from ${min} to ${max}`,
    },
  ]
  const must = `${name} must be a duration such as 500ms, 5s or 1m30s`
  return text({ ...about, max: 32, pattern: durationPattern, must, rules })
}

const byteSizePattern = /^[1-9][0-9]{0,9}(Ki|Mi|Gi)?$/

interface ByteSizeOptions extends About {
  /** The field, as messages name it. */
  readonly name: string
  readonly max: string
}

/** An amount of bytes, such as `10Mi`, up to a most. */
export function byteSize({ name, max, ...about }: ByteSizeOptions): z.ZodString {
  const bound = `quantity(self).compareTo(quantity('${max}')) <= 0`
  return text({
    ...about,
    max: 16,
    pattern: byteSizePattern,
    must: `${name} must be a size such as 512Ki, 10Mi or 1Gi`,
    rules: [
      {
        rule: `!self.matches(r'${byteSizePattern.source}') || ${bound}`,
        message: `${name} must be at most ${max}`,
      },
    ],
  })
}

const quantityPattern =
  /^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+([.][0-9]*)?)?$/

interface IntOrStringOptions extends About {
  /** What a text must look like. */
  readonly pattern: RegExp
  /** At least this, when it is a number. */
  readonly min: number
  /** The sentence that a wrong value gets. */
  readonly must: string
}

function intOrString({ pattern, min, must, ...about }: IntOrStringOptions) {
  const rule = `type(self) == int ? self >= ${min} : self.matches(r'${pattern.source}')`
  return z.union([z.int().min(min), z.string().max(32).regex(pattern, must)]).meta({
    ...about,
    'x-kubernetes-int-or-string': true,
    ...withRules([{ rule, message: must }]),
  })
}

/** A quantity of Kubernetes: `500m`, `256Mi`, `2`. */
export function quantity(name: string, about: About) {
  const must = `${name} must be a quantity such as 500m, 256Mi or 2`
  return intOrString({ ...about, pattern: quantityPattern, min: 0, must })
}

/** A number of pods or a share of them: `1`, `25%`. */
export function countOrPercent(name: string, about: About) {
  const must = `${name} must be a number of pods such as 1, or a share of them such as 25%`
  return intOrString({ ...about, pattern: /^(0|[1-9][0-9]{0,2})%$/, min: 0, must })
}

function amounts(name: string, about: About) {
  const amount = quantity(name, { description: 'The amount.', example: '256Mi' })
  return mapOf(amount, { ...about, max: 16 })
}

/** Requests and limits of a container. */
export function resources(about: About) {
  return object(
    {
      requests: amounts('requests', {
        description: 'What is reserved for the container.',
        example: { cpu: '500m', memory: '512Mi' },
      }).optional(),
      limits: amounts('limits', {
        description: 'The most it may use. A CPU limit is seldom wise: it adds latency.',
        example: { memory: '512Mi' },
      }).optional(),
    },
    {
      ...about,
      rules: [
        {
          rule: '!has(self.requests) || !has(self.limits) || self.requests.all(k, !(k in self.limits) || quantity(string(self.requests[k])).compareTo(quantity(string(self.limits[k]))) <= 0)',
          message: 'requests must be at most limits',
          fieldPath: '.requests',
        },
      ],
    },
  )
}

export type Resources = z.output<ReturnType<typeof resources>>
