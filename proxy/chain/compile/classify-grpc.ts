// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { InterfaceSpec, Place } from '../chain-spec.ts'
import type { Classification, Question } from '../types.ts'
import { withBlockHeaders } from './block-header.ts'
import { compileBlockRule, unreadable } from './block-reader.ts'
import type { PlaceReader } from './block-reader.ts'
import { classifiedMethod, unknownMethod } from './classified-method.ts'
import type { ClassifiedMethod } from './classified-method.ts'
import type { PointSyntax } from './block-point.ts'

type GrpcQuestion = Extract<Question, { apiInterface: 'grpc' }>

/** Classifies a gRPC call by `package.Service/Method`; its message is not read. */
export function compileGrpc(
  spec: InterfaceSpec,
  words: PointSyntax['words'],
): (question: GrpcQuestion) => Classification {
  const byName = new Map<string, ClassifiedMethod<GrpcQuestion>>()
  for (const method of spec.methods.values()) {
    const rule = withBlockHeaders(method.block, spec.blockHeaders)
    const block = compileBlockRule(rule, 'plain', words, grpcPlace)
    byName.set(method.name, classifiedMethod(method, block, []))
  }
  return (question) =>
    byName.get(question.method)?.classify(question) ?? unknownMethod(question.method, 'read')
}

function grpcPlace(place: Place): PlaceReader<GrpcQuestion> {
  return place.in === 'header' ? (question) => question.header(place.name) : () => unreadable
}
