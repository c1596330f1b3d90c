// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { InterfaceSpec, Place } from '../chain-spec.ts'
import { otherNames } from '../other-names.ts'
import type { Classification, Question } from '../types.ts'
import { compileBlockRule, unreadable } from './block-reader.ts'
import type { PlaceReader } from './block-reader.ts'
import { compileChecks } from './compile-checks.ts'
import { classifiedMethod, unknownMethod } from './classified-method.ts'
import type { ClassifiedMethod } from './classified-method.ts'
import type { PointSyntax } from './block-point.ts'
import { withBlockHeaders } from './block-header.ts'
import { PathTree, isWildcard, segmentsOf } from './path-tree.ts'

type RestQuestion = Extract<Question, { apiInterface: 'rest' }>

interface RestRequest {
  readonly question: RestQuestion
  readonly segments: readonly string[]
}

/** Classifies a REST call by verb and path. */
export function compileRest(
  spec: InterfaceSpec,
  words: PointSyntax['words'],
): (question: RestQuestion) => Classification {
  const byVerb = new Map<string, PathTree<ClassifiedMethod<RestRequest>>>()
  for (const method of spec.methods.values()) {
    const verb = method.verb ?? 'GET'
    const tree = byVerb.get(verb) ?? new PathTree()
    byVerb.set(verb, tree)
    const rule = withBlockHeaders(method.block, spec.blockHeaders)
    for (const name of [method.name, ...otherNames(method.name, spec.aliases)]) {
      const placeReader = (place: Place) => restPlace(place, name)
      const block = compileBlockRule(rule, 'plain', words, placeReader)
      const checks = compileChecks(method, spec, placeReader)
      tree.add(name, classifiedMethod(method, block, checks))
    }
  }
  return (question) => {
    const verb = question.verb === 'HEAD' ? 'GET' : question.verb
    const match = byVerb.get(verb)?.find(question.path)
    if (match) return match.value.classify({ question, segments: match.segments })
    // Nobody knows what an unnamed POST does: it is not asked twice.
    return unknownMethod(question.path, verb === 'GET' ? 'read' : 'local')
  }
}

function restPlace(place: Place, pattern: string): PlaceReader<RestRequest> {
  if (place.in === 'header') return ({ question }) => question.header(place.name)
  if (place.in === 'query') return ({ question }) => queryValue(question.query, place.name)
  if (place.in === 'path') {
    const parts = segmentsOf(pattern)
    const at = parts.indexOf(`{${place.name}}`)
    const behindWildcard = parts.slice(0, at).some(isWildcard)
    if (at >= 0 && !behindWildcard) return ({ segments }) => segments[at]
  }
  return () => unreadable
}

function queryValue(query: string, name: string): string | null {
  return query === '' ? null : new URLSearchParams(query).get(name)
}
