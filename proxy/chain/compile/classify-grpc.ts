// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { InterfaceSpec, Place } from '../chain-spec.ts'
import type { Classification, Question } from '../types.ts'
import { withBlockHeaders } from './block-header.ts'
import { compileBlockRule, unreadable } from './block-reader.ts'
import type { PlaceReader } from './block-reader.ts'
import { classifiedMethod, unknownMethod } from './classified-method.ts'
import type { ClassifiedMethod } from './classified-method.ts'
import { otherNames } from '../other-names.ts'
import { fieldAt } from '../proto-field.ts'
import type { PointSyntax } from './block-point.ts'

type GrpcQuestion = Extract<Question, { apiInterface: 'grpc' }>

/** Classifies a gRPC call by `package.Service/Method`; its message is read only where a rule says so. */
export function compileGrpc(
  spec: InterfaceSpec,
  words: PointSyntax['words'],
): (question: GrpcQuestion) => Classification {
  const byName = new Map<string, ClassifiedMethod<GrpcQuestion>>()
  for (const method of spec.methods.values()) {
    const rule = withBlockHeaders(method.block, spec.blockHeaders)
    const block = compileBlockRule(rule, 'plain', words, grpcPlace)
    const classified = classifiedMethod(method, block, [])
    for (const name of [method.name, ...otherNames(method.name, spec.aliases)])
      if (!byName.has(name)) byName.set(name, classified)
  }
  return (question) =>
    byName.get(question.method)?.classify(question) ?? unknownMethod(question.method, 'read')
}

function grpcPlace(place: Place): PlaceReader<GrpcQuestion> {
  if (place.in === 'header') return (question) => question.header(place.name)
  if (place.in !== 'message') return () => unreadable
  return ({ message }) => (message === undefined ? unreadable : fieldAt(message, place.path))
}
