// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule, Condition, SecondName, SecondNames } from '../check-rule.ts'
import type { NativeCheck, NativeCondition } from '../native/schema.ts'
import type { Place } from '../place.ts'

/** A row of a method's `checks` with the defaults of the format. */
export function buildCheck(native: NativeCheck): CheckRule {
  switch (native.check) {
    case 'block': {
      const { number = null, hash = null, older = 0, absent = null } = native
      const { optional = false, raw = null, earliest = null } = native
      return { check: 'block', place: null, number, hash, older, absent, optional, raw, earliest }
    }
    case 'identity': {
      const { result, as = 'hash', each = false, optional = false } = native
      return { check: 'identity', place: place(native), result, as, each, optional }
    }
    case 'length': {
      const { result, key = null, items = null } = native
      return { check: 'length', place: place(native), result, key, items }
    }
    case 'limit':
      return { check: 'limit', place: place(native), result: native.result ?? [] }
    case 'least':
      return { check: 'least', place: place(native), result: native.result }
    case 'heights':
      return { check: 'heights', place: null }
    case 'items': {
      const { result = [], number = null, hash = null, alike = [], like = {} } = native
      const { counted = null, rising = null, used = null, each = null } = native
      const { hydrated, members = {}, distinct = null } = native
      const secondNames = secondNamesOf(native['second-names'] ?? {})
      const tables = { like: mapOf(like), members: mapOf(members), secondNames }
      const own = { number, hash, alike, counted, rising, used, each, distinct, ...tables }
      return { check: 'items', place: hydrated ? place(hydrated) : null, result, ...own }
    }
    case 'bloom': {
      const { logs, bloom, each = false } = native
      return { check: 'bloom', place: null, logs, bloom, each }
    }
    case 'logs':
      return { check: 'logs', place: place(native), indexIn: native['index-in'] ?? 'block' }
    case 'parent': {
      const { number, hash = null, parent = null, each = false } = native
      return { check: 'parent', place: null, number, hash, parent, each }
    }
    case 'expected': {
      const { verification, result = [], height = null, optional = false } = native
      return { check: 'expected', place: null, verification, result, height, optional }
    }
    case 'contains':
      return { check: 'contains', place: placeIfAny(native), from: native.from, to: native.to }
    case 'sequence': {
      const { result = [], key, begin = null, end = null, lenient: isLenient = false } = native
      return { check: 'sequence', place: placeIfAny(native), result, key, begin, end, isLenient }
    }
    case 'hashed': {
      const { data, result, digest, optional = false, each = null } = native
      return { check: 'hashed', place: null, data, result, digest, optional, each }
    }
    case 'shape': {
      const { result = [], as, members = {}, lenient: isLenient = false } = native
      const { when = null, 'one-of': oneOf = null } = native
      const secondNames = secondNamesOf(native['second-names'] ?? {})
      const own = { oneOf, isLenient, members: mapOf(members), secondNames }
      return { check: 'shape', place: null, when: when && condition(when), result, as, ...own }
    }
    case 'header':
      return { check: 'header', place: null, form: native.form }
    case 'transaction':
      return { check: 'transaction', place: null, form: native.form, each: native.each ?? null }
    case 'receipt':
      return { check: 'receipt', place: null, each: native.each ?? false }
    case 'root': {
      const { list, root, 'of-none': ofNone, lenient = null } = native
      return { check: 'root', place: null, list, root, ofNone: ofNone.slice(2), lenient }
    }
    case 'fee-history':
      return { check: 'fee-history', place: place(native), rewards: native.rewards ?? false }
    case 'exists':
      return { check: 'exists', place: null }
    case 'sent': {
      const { digest, result = [], confirm = [], answer = '%s' } = native
      const ways = [confirm].flat().map((way) => {
        const { method, params = ['%s'], result: at, present = false, partial = false } = way
        return { method, params, result: at, present, isPartial: partial }
      })
      return { check: 'sent', place: place(native), digest, result, confirm: ways, answer }
    }
    case 'digest':
      return { check: 'digest', place: place(native), digest: native.digest }
    case 'raw':
      return { check: 'raw', place: place(native), digest: native.digest }
  }
}

function condition(native: NativeCondition): Condition {
  return { place: place(native), is: native.is, absent: native.default ?? null }
}

type NativeSecondName = string | { readonly name: string; readonly unless: readonly string[] }

function secondNamesOf(record: Readonly<Record<string, NativeSecondName>>): SecondNames {
  const built = Object.entries(record).map(([second, own]): [string, SecondName] => [
    second,
    typeof own === 'string' ? { name: own, unless: [] } : own,
  ])
  return new Map(built)
}

function mapOf<Value>(record: Readonly<Record<string, Value>>): ReadonlyMap<string, Value> {
  return new Map(Object.entries(record))
}

function place(own: Place): Place {
  const { param, name, field, query, header, message } = own
  return { param, name, field, query, header, message, 'path-parameter': own['path-parameter'] }
}

function placeIfAny(own: Place): Place | null {
  const found = place(own)
  return Object.values(found).every((way) => way === undefined) ? null : found
}
