// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { questionAt } from '../question-at.ts'
import type { ChainSpec, InterfaceSpec } from '../chain-spec.ts'
import type { FailureTable } from '../failure-table.ts'
import type { Chain, ChainInterface, Classification, Question } from '../types.ts'
import { pointWords } from './block-point.ts'
import { compileByName } from './classify-by-name.ts'
import { compileGrpc } from './classify-grpc.ts'
import { compileRest } from './classify-rest.ts'
import { unknownMethod } from './classified-method.ts'

/** Turns a chain's data into what the engine asks. */
export function compileChain(spec: ChainSpec, failures: FailureTable): Chain {
  const interfaces = new Map(
    [...spec.interfaces].map(([name, each]) => [name, compileInterface(spec, each)]),
  )
  return {
    id: spec.id,
    aliases: spec.aliases,
    name: spec.name,
    family: spec.family,
    blockTimeMs: spec.blockTimeMs,
    allowedLagBlocks: spec.allowedLagBlocks,
    finality: spec.finality,
    interfaces,
    failures,
  }
}

function compileInterface(chain: ChainSpec, spec: InterfaceSpec): ChainInterface {
  const methods = [...spec.methods.values()]
  return {
    apiInterface: spec.apiInterface,
    addons: spec.addons,
    archiveAfterBlocks: spec.archiveAfterBlocks,
    impliedVersion: spec.impliedVersion,
    requestHeaders: spec.requestHeaders,
    responseHeaders: spec.responseHeaders,
    latestBlock: spec.latestBlock,
    blockTimeAt: spec.blockTimeQuestion && questionAt(spec.blockTimeQuestion),
    isBlockTimeOptional: spec.isBlockTimeOptional,
    blockHashAt: spec.blockHashQuestion && questionAt(spec.blockHashQuestion),
    verifications: spec.verifications,
    verificationNames: new Set([
      ...spec.verifications.map(({ name }) => name),
      ...spec.unaskedVerifications,
    ]),
    internalPaths: new Set(methods.map(({ internalPath }) => internalPath).filter(Boolean)),
    methods: new Set(methods.map((method) => method.name)),
    aliases: spec.aliases,
    classify: compileClassify(chain, spec),
  }
}

function compileClassify(
  chain: ChainSpec,
  spec: InterfaceSpec,
): (question: Question) => Classification {
  const words = pointWords(chain.blockWords)
  if (spec.apiInterface === 'rest') {
    const classify = compileRest(spec, words)
    return (question) => (question.apiInterface === 'rest' ? classify(question) : stray(question))
  }
  if (spec.apiInterface === 'grpc') {
    const classify = compileGrpc(spec, words)
    return (question) => (question.apiInterface === 'grpc' ? classify(question) : stray(question))
  }
  const classify = compileByName(spec, chain.family, words)
  return (question) => {
    if (question.apiInterface === 'jsonrpc') return classify(question, question.internalPath ?? '')
    if (question.apiInterface === 'tendermintrpc') return classify(question, '')
    return stray(question)
  }
}

/** A question in the words of another interface. */
function stray(question: Question): Classification {
  return unknownMethod(question.apiInterface === 'rest' ? question.path : question.method, 'read')
}
