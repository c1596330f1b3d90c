// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../../chain/finality.ts'
import type { Classification } from '../../chain/types.ts'
import type { ApiInterface } from '../../config/types.ts'
import { digestOf } from '../../cross-validation/vote.ts'
import { canonicalJson } from '../../json/canonical-json.ts'

/** What of an answer is compared. */
export interface Answer {
  /** The class of an error that is the node's own answer. */
  readonly refusal: { readonly name: string } | null
  readonly body: Uint8Array
}

/** A field that is another one than was recorded. Of lists, `[*]` is any element. */
export type Difference = Readonly<{ what: string } & Record<'was' | 'is', string | null>>

/**
 * The differences of two answers to one call, none twice.
 * @param ignored as in `ignore-fields` of a policy of cross-validation
 */
export function compare(
  answers: readonly [then: Answer, now: Answer],
  apiInterface: ApiInterface,
  ignored: readonly string[],
): readonly Difference[] {
  const [then, now] = answers.map((each) => digestOf(each, each.body, apiInterface, ignored))
  if (then?.answer === now?.answer) return []
  const found = new Map<string, Difference>()
  if (apiInterface !== 'grpc' && answers.every(({ refusal }) => refusal === null)) {
    const member = apiInterface === 'rest' ? null : 'result'
    const [was = null, is = null] = answers.map(({ body }) => canonicalJson(body, member, ignored))
    if (was !== null && is !== null) gather(JSON.parse(was), JSON.parse(is), member ?? '', found)
  }
  // An error, no JSON, or a number that only its text tells from the other.
  if (found.size === 0)
    found.set('', { what: '(all)', was: then?.excerpt ?? '', is: now?.excerpt ?? '' })
  return [...found.values()]
}

/** What lies deeper is one field. */
const maxFieldLength = 200

/** Undefined is what is absent. */
function gather(was: unknown, is: unknown, field: string, found: Map<string, Difference>): void {
  const [then = 'absent', now = 'absent'] = [was, is].map((each) => JSON.stringify(each))
  const form = formOf(was)
  if (then === now) return
  if (form === 'value' || form !== formOf(is) || field.length > maxFieldLength)
    return void found.set(field, { what: field, was: then, is: now })
  const [before, after] = [was, is].map((each) => each as Readonly<Record<string, unknown>>)
  for (const name of Object.keys({ ...before, ...after })) {
    const inner = form === 'map' ? `${field}.${name}`.replace(/^\./, '') : `${field}[*]`
    gather(before?.[name], after?.[name], inner, found)
  }
}

/** Lists of different lengths are of different forms. */
function formOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'map' : 'value'
}

/** Whether nodes in order give the same whenever they are asked: what was in a block then, or needs none. */
export function isFixed(
  { deterministic, block, showsBlock }: Classification,
  differences: readonly Difference[],
): boolean {
  const isNamed = block.kind === 'none' || block.kind === 'hash' || lastPoint(block) !== null
  const place = showsBlock?.path.join('.') ?? ''
  const shows = ['', 'result', place, `result.${place}`]
  const wasThere = !differences.some(({ what, was }) => was === 'null' && shows.includes(what))
  return deterministic && isNamed && wasThere
}
